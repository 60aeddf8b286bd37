#include "troupe/serialization/wire/payload.hpp"

#include <algorithm>

namespace troupe {
namespace {

static_assert(std::endian::native == std::endian::little, "payloads travel as they lie in memory");
// These numbers are part of the protocol and of saved graphs.
static_assert(static_cast<int>(dtype::boolean) == 1 && static_cast<int>(dtype::i64) == 9 &&
              static_cast<int>(dtype::string) == 16 && static_cast<int>(dtype::variant) == 17 && dtype_count == 18);

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

} // namespace

uint64_t payload_bytes(const tensor& of) noexcept {
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
    return failure(error_kind::unimplemented,
                   "a list of tensors stays in its process: send what TensorListStack or "
                   "TensorListGetItem make of it, or place its nodes on one task");
  return seen_as(of, dtype::u8, shape{static_cast<int64_t>(of.bytes())});
}

result<tensor> from_payload(uint8_t type, std::span<const int64_t> extents, const tensor& payload) {
  auto of = static_cast<dtype>(type);
  if (type == 0 || type >= dtype_count || of == dtype::variant)
    return failure(error_kind::data_loss, "there is no element type ", int{type});
  auto dims = shape::make(extents);
  if (!dims)
    return failure(error_kind::data_loss, dims.status().message());
  if (of == dtype::string)
    return unpack_strings(*dims, payload);
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
