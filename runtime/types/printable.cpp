#include "troupe/runtime/types/printable.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace troupe {
namespace {

struct character {
  uint32_t code = 0;
  size_t bytes = 1;
  bool valid = false;
};

// Returns the length of a character with this first byte, or 0 if no character starts with it.
size_t length_of(uint8_t first) noexcept {
  return first < 0x80   ? 1
         : first < 0xc2 ? 0
         : first < 0xe0 ? 2
         : first < 0xf0 ? 3
         : first < 0xf5 ? 4
                        : 0;
}

// Decodes the first character of a text that is not empty.
character first_of(std::string_view text) noexcept {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  auto length = length_of(byte(0));
  if (length == 0 || length > text.size())
    return {byte(0), 1, false};
  if (length == 1)
    return {byte(0), 1, true};
  uint32_t code = byte(0) & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return {byte(0), 1, false};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::array<uint32_t, 5> smallest_codes{0, 0, 0x80, 0x800, 0x10000};
  auto is_surrogate = code >= 0xd800 && code < 0xe000;
  if (code < smallest_codes[length] || is_surrogate || code > 0x10ffff)
    return {byte(0), 1, false};
  return {code, length, true};
}

// Returns whether a character is a control character or changes the lines or the direction of the
// surrounding text.
bool must_be_escaped(uint32_t code) noexcept {
  struct range {
    uint32_t first, last;
  };
  constexpr std::array ranges{
      range{0, 0x1f},        range{0x7f, 0x9f},     range{0x61c, 0x61c},   range{0x200e, 0x200f},
      range{0x2028, 0x202e}, range{0x2066, 0x2069}, range{0xfff9, 0xfffb}, range{0xe0000, 0xe007f},
  };
  return std::ranges::any_of(ranges, [&](const range& candidate) {
    return code >= candidate.first && code <= candidate.last;
  });
}

void append_escaped(std::string_view bytes, std::string& escaped_text) {
  constexpr std::string_view digits = "0123456789abcdef";
  if (bytes == "\n")
    escaped_text += "\\n";
  else if (bytes == "\r")
    escaped_text += "\\r";
  else if (bytes == "\t")
    escaped_text += "\\t";
  else
    for (char letter : bytes) {
      auto byte = static_cast<uint8_t>(letter);
      ((escaped_text += "\\x") += digits[byte >> 4]) += digits[byte & 15];
    }
}

struct escape_options {
  bool keep_lines = false;
  char quote = '\0';
};

std::string escaped(std::string_view text, escape_options options) {
  std::string escaped_text;
  escaped_text.reserve(text.size() + 2);
  if (options.quote)
    escaped_text += options.quote;
  while (!text.empty()) {
    auto next = first_of(text);
    auto bytes = text.substr(0, next.bytes);
    auto is_kept = options.keep_lines && (next.code == '\n' || next.code == '\t');
    if (options.quote && (bytes[0] == options.quote || bytes[0] == '\\'))
      (escaped_text += '\\') += bytes[0];
    else if (next.valid && (is_kept || !must_be_escaped(next.code)))
      escaped_text += bytes;
    else
      append_escaped(bytes, escaped_text);
    text.remove_prefix(next.bytes);
  }
  if (options.quote)
    escaped_text += options.quote;
  return escaped_text;
}

} // namespace

std::string printable(std::string_view text) { return escaped(text, {}); }

std::string printable_lines(std::string_view text) { return escaped(text, {.keep_lines = true}); }

std::string in_quotes(std::string_view text, char quote) { return escaped(text, {.quote = quote}); }

// Outside of its strings, JSON text is plain ASCII, with line breaks as the only control
// characters.
std::string printable_json(std::string text) {
  std::string escaped_text;
  std::string_view unread = text;
  auto append_unit = [&](uint32_t unit) {
    constexpr std::string_view digits = "0123456789abcdef";
    escaped_text += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4)
      escaped_text += digits[unit >> shift & 15];
  };
  while (!unread.empty()) {
    auto next = first_of(unread);
    if (!next.valid)
      escaped_text += "\\ufffd";
    else if (next.code == '\n' || next.code == '\t' || !must_be_escaped(next.code))
      escaped_text += unread.substr(0, next.bytes);
    else if (next.code < 0x10000)
      append_unit(next.code);
    else {
      append_unit(0xd800 + ((next.code - 0x10000) >> 10));
      append_unit(0xdc00 + ((next.code - 0x10000) & 0x3ff));
    }
    unread.remove_prefix(next.bytes);
  }
  return escaped_text;
}

size_t incomplete_tail(std::string_view text) noexcept {
  for (size_t distance = 1; distance <= std::min<size_t>(text.size(), 3); ++distance) {
    auto byte = static_cast<uint8_t>(text[text.size() - distance]);
    if ((byte & 0xc0) != 0x80)
      return length_of(byte) > distance ? distance : 0;
  }
  return 0;
}

} // namespace troupe
