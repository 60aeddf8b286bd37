#include "troupe/serialization/tensor_bundle/slice_key.hpp"

#include <array>
#include <bit>

namespace troupe {
namespace {

// How many bytes follow, then these, the highest first.
void append_count(std::string& to, uint64_t number) {
  auto bytes = (std::bit_width(number) + 7) / 8;
  to += static_cast<char>(bytes);
  for (auto i = bytes; i > 0; --i)
    to += static_cast<char>(number >> 8 * (i - 1));
}

// Bytes 0 and 255 are followed by another, so that 0 and 1 can be the end.
void append_text(std::string& to, std::string_view text) {
  for (auto each : text) {
    to += each;
    if (each == '\0')
      to += '\xff';
    else if (each == '\xff')
      to += '\0';
  }
  to += '\0';
  to += '\1';
}

// As many ones as there are bytes and a zero, then the number's lowest bits; all of that turned
// round for a negative one.
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
  auto ones = length;
  for (size_t i = 0; ones > 0; ++i) {
    auto here = ones < 8 ? ones : 8;
    begin[i] ^= static_cast<uint8_t>(0xff00u >> here);
    ones -= here;
  }
  to.append(reinterpret_cast<const char*>(begin), length);
}

} // namespace

std::string slice_key(std::string_view name, std::span<const slice_extent> slice) {
  std::string key;
  append_count(key, 0);
  append_text(key, name);
  append_count(key, slice.size());
  for (const auto& each : slice) {
    append_signed(key, each.start);
    append_signed(key, each.length);
  }
  return key;
}

} // namespace troupe
