// Base64 with the alphabet of RFC 4648, section 5, which URLs and names of files can carry.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>

namespace troupe::ops {

std::string to_base64(std::string_view bytes, bool pad);

/// Fails for other characters, a length that no bytes have, and padding that is not at the end.
result<std::string> from_base64(std::string_view text);

} // namespace troupe::ops
