// Base64 with the alphabet of RFC 4648, section 5, which is safe in URLs and file names.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>

namespace troupe::ops {

std::string to_base64(std::string_view bytes, bool pad);

/// Fails for other characters, an impossible length, and padding that is not at the end.
result<std::string> from_base64(std::string_view text);

} // namespace troupe::ops
