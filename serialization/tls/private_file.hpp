// Writes files that only their owner may read, such as private keys.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// Writes a file of mode 0600 atomically: a reader sees the old content or the new. Fails with
/// already_exists if the file exists and `replace` is false.
status write_private_file(const std::string& path, std::string_view content, bool replace);

} // namespace troupe
