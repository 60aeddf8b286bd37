// The string formats of ops: bytes, UTF-8, words, numbers.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace troupe::ops {

/// The unit that the attribute `unit` selects.
enum class text_unit { byte, character };

inline result<text_unit> text_unit_of(std::string_view name) {
  if (name == "BYTE")
    return text_unit::byte;
  if (name == "UTF8_CHAR")
    return text_unit::character;
  return invalid("unit must be BYTE or UTF8_CHAR, got '", name, "'");
}

/// Whether a byte begins a character of UTF-8, well-formed or not.
inline bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

/// As in the C locale, independent of the current one.
inline bool is_space(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

inline std::string_view stripped(std::string_view text) {
  while (!text.empty() && is_space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_space(text.back()))
    text.remove_suffix(1);
  return text;
}

/// Whether a text, after an optional sign, starts like a hexadecimal number of C: "0x1.8p3".
inline bool is_hexadecimal(std::string_view text) {
  if (text.starts_with('-'))
    text.remove_prefix(1);
  return text.starts_with("0x") || text.starts_with("0X");
}

/// Parses a whole text as a number, ignoring surrounding spaces. Integers that do not fit are
/// rejected. Real numbers out of range become infinite or zero, and may be hexadecimal.
template <class T>
std::optional<T> number_from(std::string_view text) {
  text = stripped(text);
  if (text.starts_with('+') && !text.starts_with("+-"))
    text.remove_prefix(1);
  T value{};
  if constexpr (std::is_floating_point_v<T>) {
    if (is_hexadecimal(text)) {
      auto sign = text.front() == '-' ? T{-1} : T{1};
      text.remove_prefix(sign < 0 ? 3 : 2);
      if (text.empty() || text.front() == '-')
        return std::nullopt;
      const auto* last = text.data() + text.size();
      auto [stop, problem] = std::from_chars(text.data(), last, value, std::chars_format::hex);
      if (stop != last)
        return std::nullopt;
      if (problem == std::errc::result_out_of_range)
        value = text.find("p-") != text.npos || text.find("P-") != text.npos
                    ? T{0}
                    : std::numeric_limits<T>::infinity();
      return sign * value;
    }
  }
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty())
    return std::nullopt;
  if (error == std::errc{})
    return value;
  if constexpr (std::is_floating_point_v<T>)
    if (error == std::errc::result_out_of_range)
      return static_cast<T>(std::strtod(std::string{text}.c_str(), nullptr));
  return std::nullopt;
}

} // namespace troupe::ops
