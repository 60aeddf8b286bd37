#include "troupe/serialization/tensor_bundle/slice_key.hpp"

#include <array>
#include <bit>

namespace troupe {
namespace {

// Appends the number of bytes of the number, then these bytes, the highest first.
void append_count(std::string& to, uint64_t number) {
  auto bytes = (std::bit_width(number) + 7) / 8;
  to += static_cast<char>(bytes);
  for (auto i = bytes; i > 0; --i)
    to += static_cast<char>(number >> 8 * (i - 1));
}

// A 255 follows each byte 0, and a 0 each byte 255, so that the bytes 0 and 1 can mark the end.
void append_text(std::string& to, std::string_view text) {
  for (auto character : text) {
    to += character;
    if (character == '\0')
      to += '\xff';
    else if (character == '\xff')
      to += '\0';
  }
  to += '\0';
  to += '\1';
}

// Appends as many one bits as there are bytes, a zero bit, and the lowest bits of the number. All
// bits are inverted for a negative number.
void append_signed(std::string& to, int64_t number) {
  auto magnitude = static_cast<uint64_t>(number < 0 ? ~number : number);
  auto length = static_cast<size_t>(std::bit_width(magnitude) / 7 + 1);
  std::array<uint8_t, 10> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto shift = 8 * (bytes.size() - 1 - i);
    bytes[i] = shift < 64   ? static_cast<uint8_t>(static_cast<uint64_t>(number) >> shift)
               : number < 0 ? 0xff
                            : 0;
  }
  auto* begin = bytes.data() + bytes.size() - length;
  auto ones_left = length;
  for (size_t i = 0; ones_left > 0; ++i) {
    auto ones_in_byte = ones_left < 8 ? ones_left : 8;
    begin[i] ^= static_cast<uint8_t>(0xff00u >> ones_in_byte);
    ones_left -= ones_in_byte;
  }
  to.append(reinterpret_cast<const char*>(begin), length);
}

} // namespace

std::string slice_key(std::string_view name, std::span<const slice_extent> slice) {
  std::string key;
  append_count(key, 0);
  append_text(key, name);
  append_count(key, slice.size());
  for (const auto& extent : slice) {
    append_signed(key, extent.start);
    append_signed(key, extent.length);
  }
  return key;
}

} // namespace troupe
