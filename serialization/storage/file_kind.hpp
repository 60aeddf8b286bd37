// Files of other kinds than the one that was expected, known by their first or last bytes.
#pragma once
#include <string_view>

namespace troupe {

/// Says which kind of file has this content and what to do with it; empty for an unknown kind:
/// "the index of a checkpoint of TensorFlow: ...".
std::string_view describe_content(std::string_view content) noexcept;

/// Whether the content has bytes that no text has, near its beginning.
bool is_binary(std::string_view content) noexcept;

} // namespace troupe
