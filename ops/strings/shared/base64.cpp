#include "troupe/ops/strings/shared/base64.hpp"

#include <array>

namespace troupe::ops {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr auto values = [] {
  std::array<int8_t, 256> value_of{};
  value_of.fill(-1);
  for (size_t i = 0; i < alphabet.size(); ++i)
    value_of[static_cast<unsigned char>(alphabet[i])] = static_cast<int8_t>(i);
  return value_of;
}();

} // namespace

std::string to_base64(std::string_view bytes, bool pad) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  uint32_t bits = 0;
  int bit_count = 0;
  for (char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (bit_count += 8; bit_count >= 6; bit_count -= 6)
      text += alphabet[bits >> (bit_count - 6) & 63];
  }
  if (bit_count > 0)
    text += alphabet[bits << (6 - bit_count) & 63];
  while (pad && text.size() % 4 != 0)
    text += '=';
  return text;
}

result<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 == 0) // padding is at most two characters, and completes a group
    for (int i = 0; i < 2 && text.ends_with('='); ++i)
      text.remove_suffix(1);
  if (text.size() % 4 == 1)
    return invalid("base64 of ", text.size(), " characters is cut off");
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int bit_count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    auto value = values[static_cast<unsigned char>(text[i])];
    if (value < 0)
      return invalid("character ", i, " is none of base64");
    bits = bits << 6 | static_cast<uint32_t>(value);
    if ((bit_count += 6) >= 8) {
      bit_count -= 8;
      bytes += static_cast<char>(bits >> bit_count & 255);
    }
  }
  return bytes;
}

} // namespace troupe::ops
