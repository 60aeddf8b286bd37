#include "troupe/runtime/state/element_bytes.hpp"

#include <bit>
#include <cstring>

namespace troupe {

static_assert(std::endian::native == std::endian::little,
              "values are copied as they lie in memory");

void element_writer::add(uint64_t number) {
  for (; number >= 0x80; number >>= 7)
    bytes_ += static_cast<char>(number | 0x80);
  bytes_ += static_cast<char>(number);
}

void element_writer::add(std::string_view text) {
  add(text.size());
  bytes_ += text;
}

status element_writer::add(const tensor& what) {
  if (what.empty() || what.type() == dtype::variant)
    return failure(error_kind::unimplemented, "a tensor of ", what.type(), " has no bytes to save");
  if (!what.on_host())
    return failure(error_kind::unimplemented, "elements in the memory of ", what.space()->name(),
                   " are not saved");
  add(to_string(what.type()));
  add(static_cast<uint64_t>(what.rank()));
  for (auto extent : what.dims())
    add(static_cast<uint64_t>(extent));
  if (what.type() == dtype::string)
    for (const auto& one : what.values<std::string>())
      add(std::string_view{one});
  else
    bytes_.append(static_cast<const char*>(what.raw()), what.bytes());
  return {};
}

std::optional<uint64_t> element_reader::number() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !left_.empty(); shift += 7) {
    auto byte = static_cast<uint8_t>(left_.front());
    left_.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80)
      return value;
  }
  return {};
}

std::optional<std::string_view> element_reader::text() {
  auto size = number();
  if (!size || *size > left_.size())
    return {};
  auto found = left_.substr(0, static_cast<size_t>(*size));
  left_.remove_prefix(found.size());
  return found;
}

result<tensor> element_reader::read(allocator& from) {
  auto wrong = [] { return invalid("its bytes are no tensor"); };
  auto name = text();
  auto type = name ? dtype_from(*name) : std::nullopt;
  auto rank = number();
  if (!type || *type == dtype::variant || *type == dtype::none || !rank || *rank > max_rank)
    return wrong();
  std::array<int64_t, max_rank> extents{};
  for (size_t i = 0; i < *rank; ++i) {
    auto extent = number();
    if (!extent || *extent > INT64_MAX)
      return wrong();
    extents[i] = static_cast<int64_t>(*extent);
  }
  TROUPE_ASSIGN(auto dims, shape::make({extents.data(), static_cast<size_t>(*rank)}));
  // A text takes a byte at least, for its length.
  auto each = *type == dtype::string ? size_t{1} : size_of(*type);
  if (static_cast<uint64_t>(dims.elements()) > left_.size() / each)
    return wrong();
  TROUPE_ASSIGN(auto made, tensor::make(*type, dims, from));
  if (*type == dtype::string) {
    for (auto& one : made.values<std::string>()) {
      auto value = text();
      if (!value)
        return wrong();
      one = *value;
    }
    return made;
  }
  if (made.bytes() > 0)
    std::memcpy(made.raw(), left_.data(), made.bytes());
  if (*type == dtype::boolean) // any other byte is no bool
    for (auto& one : std::span{static_cast<uint8_t*>(made.raw()), made.bytes()})
      one = one != 0;
  left_.remove_prefix(made.bytes());
  return made;
}

} // namespace troupe
