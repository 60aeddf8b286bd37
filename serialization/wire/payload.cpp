#include "troupe/serialization/wire/payload.hpp"

#include "troupe/runtime/types/tensor_list.hpp"

#include <algorithm>

namespace troupe {
namespace {

static_assert(std::endian::native == std::endian::little, "payloads have the layout of memory");
// These numbers are part of the protocol and of saved graphs.
static_assert(static_cast<int>(dtype::boolean) == 1 && static_cast<int>(dtype::i64) == 9 &&
              static_cast<int>(dtype::string) == 16 && static_cast<int>(dtype::variant) == 17 &&
              dtype_count == 18);

constexpr size_t length_bytes = sizeof(uint64_t);

// Views memory as another type. The buffer keeps the owner of the memory alive.
tensor view_as(const tensor& owner, dtype type, const shape& dims) {
  auto* memory = new buffer(
      owner.raw(), static_cast<size_t>(dims.elements()) * size_of(type),
      [](buffer* released) {
        delete static_cast<tensor*>(released->context());
        delete released;
      },
      new tensor(owner));
  return tensor::from_buffer(memory, type, dims);
}

result<tensor> pack_strings(const tensor& strings_tensor) {
  TROUPE_ASSIGN(
      auto packed,
      tensor::make(dtype::u8, shape{static_cast<int64_t>(payload_bytes(strings_tensor))}));
  auto* lengths = static_cast<std::byte*>(packed.raw());
  auto strings = strings_tensor.values<std::string>();
  auto* text = lengths + strings.size() * length_bytes;
  for (const auto& element : strings) {
    uint64_t length = element.size();
    std::memcpy(lengths, &length, length_bytes);
    lengths += length_bytes;
    text = std::copy_n(reinterpret_cast<const std::byte*>(element.data()), element.size(), text);
  }
  return packed;
}

result<tensor> unpack_strings(const shape& dims, const tensor& payload) {
  auto bytes = bytes_of(payload);
  auto count = static_cast<uint64_t>(dims.elements());
  // Checked before memory is allocated: each string has at least its length.
  if (count > bytes.size() / length_bytes)
    return failure(error_kind::data_loss, count, " strings do not fit in ", bytes.size(), " bytes");
  auto unpacked = tensor::make(dtype::string, dims);
  if (!unpacked && unpacked.status().kind() == error_kind::invalid_argument)
    return failure(error_kind::data_loss, unpacked.status().message());
  TROUPE_TRY(unpacked.status());
  auto* strings = unpacked->data<std::string>();
  auto text = bytes.subspan(static_cast<size_t>(count) * length_bytes);
  for (size_t i = 0; i < count; ++i) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + i * length_bytes, length_bytes);
    if (length > text.size())
      return failure(error_kind::data_loss, "a string of ", length, " bytes is cut off");
    strings[i].assign(reinterpret_cast<const char*>(text.data()), static_cast<size_t>(length));
    text = text.subspan(static_cast<size_t>(length));
  }
  if (!text.empty())
    return failure(error_kind::data_loss, text.size(), " bytes follow the last string");
  return unpacked;
}

// The format of a list: the items' type, their partial shape, the maximum and the number of items.
// The format of an item: type (0: not set), shape, length and bytes of its payload.

constexpr size_t number_bytes = sizeof(int64_t);

// The rank, or -1 if it is unknown, and the extents.
size_t shape_bytes(std::span<const int64_t> extents) { return (1 + extents.size()) * number_bytes; }

// Stops when the budget is spent.
uint64_t list_bytes(const tensor& value, list_budget& budget) {
  uint64_t total = 0;
  for (const auto& list : value.values<tensor_list>()) {
    total += 3 * number_bytes + shape_bytes(list.dims.extents());
    for (const auto& item : list.items) {
      if (!budget.count_item().ok())
        return total;
      total += 2 * number_bytes + shape_bytes(item.dims().extents()) +
               (item.type() == dtype::variant ? list_bytes(item, budget) : payload_bytes(item));
    }
  }
  return total;
}

uint64_t list_bytes(const tensor& value) {
  list_budget budget;
  return list_bytes(value, budget);
}

class list_writer {
public:
  explicit list_writer(std::byte* to) : to_(to) {}

  void number(int64_t value) {
    std::memcpy(to_, &value, number_bytes);
    to_ += number_bytes;
  }
  void dims(std::span<const int64_t> extents, bool known) {
    number(known ? static_cast<int64_t>(extents.size()) : -1);
    for (auto extent : extents)
      number(extent);
  }
  status lists(const tensor& value) {
    for (const auto& list : value.values<tensor_list>()) {
      if (list.object)
        return failure(error_kind::failed_precondition, list.object->description(),
                       " lives on this task for one step, and its handle cannot be sent: let all "
                       "that use it run on one task");
      number(static_cast<int64_t>(list.type));
      dims(list.dims.extents(), list.dims.has_rank());
      number(list.max_items);
      number(static_cast<int64_t>(list.items.size()));
      for (const auto& element : list.items)
        TROUPE_TRY(item(element));
    }
    return {};
  }

private:
  status item(const tensor& value) {
    number(static_cast<int64_t>(value.type()));
    dims(value.dims().extents(), true);
    auto* length = to_; // set after the content is written
    number(0);
    auto written = content(value);
    auto bytes = static_cast<int64_t>(to_ - length) - static_cast<int64_t>(number_bytes);
    std::memcpy(length, &bytes, number_bytes);
    return written;
  }

  status content(const tensor& value) {
    if (value.type() == dtype::variant)
      return lists(value);
    if (value.empty())
      return {};
    if (!value.on_host())
      return failure(error_kind::internal, "an item of a list lies in the memory of ",
                     value.space()->name());
    TROUPE_ASSIGN(auto bytes, to_payload(value));
    to_ = std::ranges::copy(bytes_of(bytes), to_).out;
    return {};
  }

  std::byte* to_;
};

result<tensor> pack_lists(const tensor& value) {
  list_budget budget;
  auto bytes = list_bytes(value, budget);
  if (budget.is_spent())
    return budget.count_item();
  TROUPE_ASSIGN(auto packed, tensor::make(dtype::u8, shape{static_cast<int64_t>(bytes)}));
  TROUPE_TRY(list_writer{static_cast<std::byte*>(packed.raw())}.lists(value));
  return packed;
}

class list_reader {
public:
  explicit list_reader(std::span<const std::byte> from) : from_(from) {}

  result<tensor> lists(const shape& dims, int depth) {
    if (depth > max_list_depth)
      return damaged("lists are nested too deep");
    // Checked before memory is allocated: each list has at least its numbers.
    if (static_cast<uint64_t>(dims.elements()) > from_.size() / (4 * number_bytes))
      return damaged(dims.elements(), " lists do not fit in ", from_.size(), " bytes");
    TROUPE_ASSIGN(auto result_lists, tensor::make(dtype::variant, dims));
    for (auto& list : result_lists.values<tensor_list>())
      TROUPE_TRY(read(list, depth));
    return result_lists;
  }
  bool at_end() const { return from_.empty(); }

private:
  static status damaged(const auto&... parts) { return failure(error_kind::data_loss, parts...); }

  result<int64_t> number() {
    if (from_.size() < number_bytes)
      return damaged("a list is cut off");
    int64_t value = 0;
    std::memcpy(&value, from_.data(), number_bytes);
    from_ = from_.subspan(number_bytes);
    return value;
  }
  result<dtype> type() {
    TROUPE_ASSIGN(auto value, number());
    if (value < 0 || value >= dtype_count)
      return damaged("there is no element type ", value);
    return static_cast<dtype>(value);
  }
  result<partial_shape> dims() {
    TROUPE_ASSIGN(auto rank, number());
    if (rank < -1 || rank > max_rank)
      return damaged("a tensor cannot have ", rank, " axes");
    if (rank == -1)
      return partial_shape::unknown();
    std::vector<int64_t> extents;
    for (int64_t axis = 0; axis < rank; ++axis) {
      TROUPE_ASSIGN(auto extent, number());
      extents.push_back(extent);
    }
    auto parsed = partial_shape::make(extents);
    return parsed ? std::move(parsed) : damaged(parsed.status().message());
  }

  status read(tensor_list& list, int depth) {
    TROUPE_ASSIGN(list.type, type());
    TROUPE_ASSIGN(list.dims, dims());
    TROUPE_ASSIGN(list.max_items, number());
    TROUPE_ASSIGN(auto count, number());
    if (count < 0 || static_cast<uint64_t>(count) > from_.size() / (3 * number_bytes))
      return damaged("a list of ", count, " items does not fit in ", from_.size(), " bytes");
    for (int64_t i = 0; i < count; ++i) {
      TROUPE_ASSIGN(auto element, item(depth));
      if (!element.empty() && list.type != dtype::none && element.type() != list.type)
        return damaged("a list of ", list.type, " has an item of ", element.type());
      TROUPE_TRY(list.admit(element));
      list.items.push_back(std::move(element));
    }
    return {};
  }

  result<tensor> item(int depth) {
    TROUPE_ASSIGN(auto item_type, type());
    TROUPE_ASSIGN(auto item_dims, dims());
    TROUPE_ASSIGN(auto bytes, number());
    if (bytes < 0 || static_cast<uint64_t>(bytes) > from_.size())
      return damaged("an item of ", bytes, " bytes is cut off");
    if (item_type == dtype::none)
      return bytes == 0 ? result<tensor>{tensor{}} : damaged("an item that is not set has bytes");
    if (!item_dims.fully_known())
      return damaged("the shape of an item is unknown");
    auto item_bytes = from_.first(static_cast<size_t>(bytes));
    auto remainder = from_.subspan(static_cast<size_t>(bytes));
    if (item_type == dtype::variant) {
      auto inner_dims = shape::make(item_dims.extents());
      if (!inner_dims)
        return damaged(inner_dims.status().message());
      from_ = item_bytes;
      TROUPE_ASSIGN(auto inner, lists(*inner_dims, depth + 1));
      if (!from_.empty())
        return damaged(from_.size(), " bytes follow the last list");
      from_ = remainder;
      return inner;
    }
    from_ = remainder;
    TROUPE_ASSIGN(auto content, bytes_to_tensor(item_bytes));
    return from_payload(static_cast<uint8_t>(item_type), item_dims.extents(), content);
  }

  std::span<const std::byte> from_;
};

result<tensor> unpack_lists(const shape& dims, const tensor& payload) {
  list_reader reader{bytes_of(payload)};
  TROUPE_ASSIGN(auto unpacked, reader.lists(dims, 1));
  if (!reader.at_end())
    return failure(error_kind::data_loss, "bytes follow the last list");
  return unpacked;
}

} // namespace

uint64_t payload_bytes(const tensor& value) noexcept {
  if (value.type() == dtype::variant)
    return list_bytes(value);
  if (value.type() != dtype::string)
    return value.bytes();
  uint64_t total = 0;
  for (const auto& element : value.values<std::string>())
    total += length_bytes + element.size();
  return total;
}

result<tensor> to_payload(const tensor& value) {
  if (value.type() == dtype::none)
    return invalid("a tensor without a type has no payload");
  if (value.type() == dtype::string)
    return pack_strings(value);
  if (value.type() == dtype::variant)
    return pack_lists(value);
  return view_as(value, dtype::u8, shape{static_cast<int64_t>(value.bytes())});
}

result<tensor> from_payload(uint8_t type, std::span<const int64_t> extents, const tensor& payload) {
  auto element_type = static_cast<dtype>(type);
  if (type == 0 || type >= dtype_count)
    return failure(error_kind::data_loss, "there is no element type ", int{type});
  auto dims = shape::make(extents);
  if (!dims)
    return failure(error_kind::data_loss, dims.status().message());
  if (element_type == dtype::string)
    return unpack_strings(*dims, payload);
  if (element_type == dtype::variant)
    return unpack_lists(*dims, payload);
  auto elements = static_cast<uint64_t>(dims->elements());
  if (payload.bytes() % size_of(element_type) != 0 ||
      payload.bytes() / size_of(element_type) != elements)
    return failure(error_kind::data_loss, element_type, *dims, " cannot have ", payload.bytes(),
                   " bytes");
  // Reading a bool with other bits is undefined behaviour.
  if (element_type == dtype::boolean &&
      std::ranges::any_of(bytes_of(payload), [](std::byte b) { return b > std::byte{1}; }))
    return failure(error_kind::data_loss, "a bool is neither 0 nor 1");
  return view_as(payload, element_type, *dims);
}

result<tensor> bytes_to_tensor(std::span<const std::byte> bytes) {
  TROUPE_ASSIGN(auto copy, tensor::make(dtype::u8, shape{static_cast<int64_t>(bytes.size())}));
  if (!bytes.empty())
    std::memcpy(copy.raw(), bytes.data(), bytes.size());
  return copy;
}

} // namespace troupe
