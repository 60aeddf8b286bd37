// Recognizes files of an unexpected kind by their first or last bytes.
#pragma once
#include <string_view>

namespace troupe {

/// Names the kind of a file with this content and the remedy; empty for an unknown kind:
/// "the index of a checkpoint of TensorFlow: ...".
std::string_view describe_content(std::string_view content) noexcept;

/// Whether the content, near its beginning, has bytes that do not occur in text.
bool is_binary(std::string_view content) noexcept;

} // namespace troupe
