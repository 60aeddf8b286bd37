// Numbers of variable length, as LevelDB and Protobuf store them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

inline void append_varint(std::string& to, uint64_t number) {
  for (; number >= 0x80; number >>= 7)
    to += static_cast<char>(number | 0x80);
  to += static_cast<char>(number);
}

/// Takes a number off the front; returns false if there is none.
inline bool take_varint(std::string_view& from, uint64_t& number) {
  number = 0;
  for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
    auto byte = static_cast<uint8_t>(from.front());
    from.remove_prefix(1);
    if (shift == 63 && byte > 1)
      return false;
    number |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80)
      return true;
  }
  return false;
}

} // namespace troupe
