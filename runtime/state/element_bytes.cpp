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

status element_writer::add(const tensor& value) {
  if (value.empty() || value.type() == dtype::variant)
    return failure(error_kind::unimplemented, "a tensor of ", value.type(),
                   " has no bytes to save");
  if (!value.on_host())
    return failure(error_kind::unimplemented, "elements in the memory of ", value.space()->name(),
                   " are not saved");
  add(to_string(value.type()));
  add(static_cast<uint64_t>(value.rank()));
  for (auto extent : value.dims())
    add(static_cast<uint64_t>(extent));
  if (value.type() == dtype::string)
    for (const auto& text : value.values<std::string>())
      add(std::string_view{text});
  else
    bytes_.append(static_cast<const char*>(value.raw()), value.bytes());
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
  auto content = left_.substr(0, static_cast<size_t>(*size));
  left_.remove_prefix(content.size());
  return content;
}

result<tensor> element_reader::read(allocator& memory) {
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
  // A text takes at least one byte, for its length.
  auto min_bytes = *type == dtype::string ? size_t{1} : size_of(*type);
  if (static_cast<uint64_t>(dims.elements()) > left_.size() / min_bytes)
    return wrong();
  TROUPE_ASSIGN(auto value, tensor::make(*type, dims, memory));
  if (*type == dtype::string) {
    for (auto& string : value.values<std::string>()) {
      auto content = text();
      if (!content)
        return wrong();
      string = *content;
    }
    return value;
  }
  if (value.bytes() > 0)
    std::memcpy(value.raw(), left_.data(), value.bytes());
  if (*type == dtype::boolean) // bytes other than 0 and 1 are no valid bool
    for (auto& byte : std::span{static_cast<uint8_t*>(value.raw()), value.bytes()})
      byte = byte != 0;
  left_.remove_prefix(value.bytes());
  return value;
}

} // namespace troupe
