// Whole files, read and written at once.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// Fails with not_found where there is nothing to read, such as for a folder.
result<std::string> read_file(const std::string& path);

/// Replaces what was there.
status write_file(const std::string& path, std::string_view content);

} // namespace troupe
