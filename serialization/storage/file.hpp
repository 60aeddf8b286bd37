// Functions that read and write whole files.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// Fails with not_found if nothing can be read, for instance for a folder.
result<std::string> read_file(const std::string& path);

/// Replaces an existing file.
status write_file(const std::string& path, std::string_view content);

} // namespace troupe
