#include "troupe/serialization/wire/payload.hpp"

#include "troupe/runtime/types/tensor_list.hpp"

#include <algorithm>

namespace troupe {
namespace {

static_assert(std::endian::native == std::endian::little, "payloads travel as they lie in memory");
// These numbers are part of the protocol and of saved graphs.
static_assert(static_cast<int>(dtype::boolean) == 1 && static_cast<int>(dtype::i64) == 9 &&
              static_cast<int>(dtype::string) == 16 && static_cast<int>(dtype::variant) == 17 &&
              dtype_count == 18);

constexpr size_t length_bytes = sizeof(uint64_t);

// Memory seen as another type. The buffer keeps the tensor alive whose memory it is.
tensor seen_as(const tensor& owner, dtype type, const shape& dims) {
  auto* memory = new buffer(
      owner.raw(), static_cast<size_t>(dims.elements()) * size_of(type),
      [](buffer* done) {
        delete static_cast<tensor*>(done->context());
        delete done;
      },
      new tensor(owner));
  return tensor::over(memory, type, dims);
}

result<tensor> pack_strings(const tensor& of) {
  TROUPE_ASSIGN(auto packed,
                tensor::make(dtype::u8, shape{static_cast<int64_t>(payload_bytes(of))}));
  auto* lengths = static_cast<std::byte*>(packed.raw());
  auto strings = of.values<std::string>();
  auto* text = lengths + strings.size() * length_bytes;
  for (const auto& each : strings) {
    uint64_t length = each.size();
    std::memcpy(lengths, &length, length_bytes);
    lengths += length_bytes;
    text = std::copy_n(reinterpret_cast<const std::byte*>(each.data()), each.size(), text);
  }
  return packed;
}

result<tensor> unpack_strings(const shape& dims, const tensor& payload) {
  auto bytes = bytes_of(payload);
  auto count = static_cast<uint64_t>(dims.elements());
  // Before memory is taken: each string needs its length at least.
  if (count > bytes.size() / length_bytes)
    return failure(error_kind::data_loss, count, " strings cannot lie in ", bytes.size(), " bytes");
  TROUPE_ASSIGN(auto made, tensor::make(dtype::string, dims));
  auto* strings = made.data<std::string>();
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
  return made;
}

// Each list: the items' type, what is known of their shapes, how many there may be, how many there
// are; then each item: type (0: not set), shape, length and bytes of its payload.

constexpr size_t number_bytes = sizeof(int64_t);

// A rank, -1 where it is not known, and extents.
size_t shape_bytes(std::span<const int64_t> extents) { return (1 + extents.size()) * number_bytes; }

// Stops where the budget is spent.
uint64_t list_bytes(const tensor& of, list_budget& left) {
  uint64_t total = 0;
  for (const auto& list : of.values<tensor_list>()) {
    total += 3 * number_bytes + shape_bytes(list.dims.extents());
    for (const auto& item : list.items) {
      if (!left.take().ok())
        return total;
      total += 2 * number_bytes + shape_bytes(item.dims().extents()) +
               (item.type() == dtype::variant ? list_bytes(item, left) : payload_bytes(item));
    }
  }
  return total;
}

uint64_t list_bytes(const tensor& of) {
  list_budget left;
  return list_bytes(of, left);
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
  status lists(const tensor& of) {
    for (const auto& list : of.values<tensor_list>()) {
      if (list.object)
        return failure(error_kind::failed_precondition, list.object->description(),
                       " lives on this task for one step, and its handle cannot be sent: let all "
                       "that use it run on one task");
      number(static_cast<int64_t>(list.type));
      dims(list.dims.extents(), list.dims.has_rank());
      number(list.most);
      number(static_cast<int64_t>(list.items.size()));
      for (const auto& one : list.items)
        TROUPE_TRY(item(one));
    }
    return {};
  }

private:
  status item(const tensor& of) {
    number(static_cast<int64_t>(of.type()));
    dims(of.dims().extents(), true);
    auto* length = to_; // known when it is written
    number(0);
    auto written = content(of);
    auto bytes = static_cast<int64_t>(to_ - length) - static_cast<int64_t>(number_bytes);
    std::memcpy(length, &bytes, number_bytes);
    return written;
  }

  status content(const tensor& of) {
    if (of.type() == dtype::variant)
      return lists(of);
    if (of.empty())
      return {};
    if (!of.on_host())
      return failure(error_kind::internal, "an item of a list lies in the memory of ",
                     of.space()->name());
    TROUPE_ASSIGN(auto bytes, to_payload(of));
    to_ = std::ranges::copy(bytes_of(bytes), to_).out;
    return {};
  }

  std::byte* to_;
};

result<tensor> pack_lists(const tensor& of) {
  list_budget left;
  auto bytes = list_bytes(of, left);
  if (left.is_spent())
    return left.take();
  TROUPE_ASSIGN(auto packed, tensor::make(dtype::u8, shape{static_cast<int64_t>(bytes)}));
  TROUPE_TRY(list_writer{static_cast<std::byte*>(packed.raw())}.lists(of));
  return packed;
}

class list_reader {
public:
  explicit list_reader(std::span<const std::byte> from) : from_(from) {}

  result<tensor> lists(const shape& dims, int depth) {
    if (depth > max_list_depth)
      return damaged("lists lie too deep within lists");
    // Before memory is taken: each list needs its numbers at least.
    if (static_cast<uint64_t>(dims.elements()) > from_.size() / (4 * number_bytes))
      return damaged(dims.elements(), " lists cannot lie in ", from_.size(), " bytes");
    TROUPE_ASSIGN(auto made, tensor::make(dtype::variant, dims));
    for (auto& list : made.values<tensor_list>())
      TROUPE_TRY(read(list, depth));
    return made;
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
    auto made = partial_shape::make(extents);
    return made ? std::move(made) : damaged(made.status().message());
  }

  status read(tensor_list& to, int depth) {
    TROUPE_ASSIGN(to.type, type());
    TROUPE_ASSIGN(to.dims, dims());
    TROUPE_ASSIGN(to.most, number());
    TROUPE_ASSIGN(auto count, number());
    if (count < 0 || static_cast<uint64_t>(count) > from_.size() / (3 * number_bytes))
      return damaged("a list of ", count, " items cannot lie in ", from_.size(), " bytes");
    for (int64_t i = 0; i < count; ++i) {
      TROUPE_ASSIGN(auto one, item(depth));
      if (!one.empty() && to.type != dtype::none && one.type() != to.type)
        return damaged("a list of ", to.type, " has an item of ", one.type());
      TROUPE_TRY(to.admit(one));
      to.items.push_back(std::move(one));
    }
    return {};
  }

  result<tensor> item(int depth) {
    TROUPE_ASSIGN(auto of, type());
    TROUPE_ASSIGN(auto known, dims());
    TROUPE_ASSIGN(auto bytes, number());
    if (bytes < 0 || static_cast<uint64_t>(bytes) > from_.size())
      return damaged("an item of ", bytes, " bytes is cut off");
    if (of == dtype::none)
      return bytes == 0 ? result<tensor>{tensor{}} : damaged("an item that is not set has bytes");
    if (!known.fully_known())
      return damaged("an item's shape is not known");
    auto own = from_.first(static_cast<size_t>(bytes));
    auto rest = from_.subspan(static_cast<size_t>(bytes));
    if (of == dtype::variant) {
      auto how_many = shape::make(known.extents());
      if (!how_many)
        return damaged(how_many.status().message());
      from_ = own;
      TROUPE_ASSIGN(auto inner, lists(*how_many, depth + 1));
      if (!from_.empty())
        return damaged(from_.size(), " bytes follow the last list");
      from_ = rest;
      return inner;
    }
    from_ = rest;
    TROUPE_ASSIGN(auto content, bytes_to_tensor(own));
    return from_payload(static_cast<uint8_t>(of), known.extents(), content);
  }

  std::span<const std::byte> from_;
};

result<tensor> unpack_lists(const shape& dims, const tensor& payload) {
  list_reader reader{bytes_of(payload)};
  TROUPE_ASSIGN(auto made, reader.lists(dims, 1));
  if (!reader.at_end())
    return failure(error_kind::data_loss, "bytes follow the last list");
  return made;
}

} // namespace

uint64_t payload_bytes(const tensor& of) noexcept {
  if (of.type() == dtype::variant)
    return list_bytes(of);
  if (of.type() != dtype::string)
    return of.bytes();
  uint64_t total = 0;
  for (const auto& each : of.values<std::string>())
    total += length_bytes + each.size();
  return total;
}

result<tensor> to_payload(const tensor& of) {
  if (of.type() == dtype::none)
    return invalid("a tensor without a type has no payload");
  if (of.type() == dtype::string)
    return pack_strings(of);
  if (of.type() == dtype::variant)
    return pack_lists(of);
  return seen_as(of, dtype::u8, shape{static_cast<int64_t>(of.bytes())});
}

result<tensor> from_payload(uint8_t type, std::span<const int64_t> extents, const tensor& payload) {
  auto of = static_cast<dtype>(type);
  if (type == 0 || type >= dtype_count)
    return failure(error_kind::data_loss, "there is no element type ", int{type});
  auto dims = shape::make(extents);
  if (!dims)
    return failure(error_kind::data_loss, dims.status().message());
  if (of == dtype::string)
    return unpack_strings(*dims, payload);
  if (of == dtype::variant)
    return unpack_lists(*dims, payload);
  auto elements = static_cast<uint64_t>(dims->elements());
  if (payload.bytes() % size_of(of) != 0 || payload.bytes() / size_of(of) != elements)
    return failure(error_kind::data_loss, of, *dims, " cannot have ", payload.bytes(), " bytes");
  // A bool with any other bits is undefined behaviour wherever it is read.
  if (of == dtype::boolean &&
      std::ranges::any_of(bytes_of(payload), [](std::byte b) { return b > std::byte{1}; }))
    return failure(error_kind::data_loss, "a bool is neither 0 nor 1");
  return seen_as(payload, of, *dims);
}

result<tensor> bytes_to_tensor(std::span<const std::byte> bytes) {
  TROUPE_ASSIGN(auto made, tensor::make(dtype::u8, shape{static_cast<int64_t>(bytes.size())}));
  if (!bytes.empty())
    std::memcpy(made.raw(), bytes.data(), bytes.size());
  return made;
}

} // namespace troupe
