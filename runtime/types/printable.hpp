// Text that comes from elsewhere (names, elements of tensors, what peers and files say), as it may
// be shown: on a terminal, in a log, in an error.
//
// Letters of all scripts stay as they are. Escaped are control characters, what changes the
// direction or the lines of the text around it, and bytes that are no UTF-8: as \n, \r, \t, and
// \xHH for each byte, as text graphs read them (docs/text-graphs.md).
#pragma once
#include "troupe/runtime/export.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// On one line, without quotes.
TROUPE_API std::string printable(std::string_view text);

/// The same, but line breaks and tabs stay: of text that has lines of its own.
TROUPE_API std::string printable_lines(std::string_view text);

/// On one line, between quotes of that kind, of which those within are escaped, and backslashes.
TROUPE_API std::string in_quotes(std::string_view text, char quote = '"');

/// JSON text whose strings hold nothing that is not printable: as \uHHHH. It must be UTF-8.
TROUPE_API std::string printable_json(std::string text);

/// How many bytes at the end are the beginning of a character whose rest is not there.
TROUPE_API size_t incomplete_tail(std::string_view text) noexcept;

} // namespace troupe
