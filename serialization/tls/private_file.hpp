// Files that their owner alone may read, such as private keys.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// Writes a file of mode 0600; its name means the whole old content or the whole new. Fails with
/// already_exists where there is one and `replace` is false.
status write_private_file(const std::string& path, std::string_view content, bool replace);

} // namespace troupe
