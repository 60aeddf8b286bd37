// Escapes text from names, tensor elements, peers and files so that it can be shown on a terminal,
// in a log or in an error.
//
// Letters of all scripts are kept. Control characters, characters that change the direction or the
// lines of the surrounding text, and bytes that are not valid UTF-8 are escaped: as \n, \r, \t, and
// \xHH for each byte, which text graphs can read (docs/text-graphs.md).
#pragma once
#include "troupe/runtime/export.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// Escapes text for a single line, without quotes.
TROUPE_API std::string printable(std::string_view text);

/// Like printable(), but keeps line breaks and tabs, for text of several lines.
TROUPE_API std::string printable_lines(std::string_view text);

/// Escapes text for a single line and puts it in quotes. Quotes of the same kind and backslashes in
/// the text are escaped.
TROUPE_API std::string in_quotes(std::string_view text, char quote = '"');

/// Escapes the same characters in the strings of JSON text, as \uHHHH. The text must be UTF-8.
TROUPE_API std::string printable_json(std::string text);

/// Returns the number of bytes at the end of the text that begin an incomplete character.
TROUPE_API size_t incomplete_tail(std::string_view text) noexcept;

} // namespace troupe
