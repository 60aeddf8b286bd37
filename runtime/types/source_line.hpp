// Tells source locations of the user's program from other locations.
#pragma once
#include "troupe/runtime/export.hpp"

#include <source_location>

namespace troupe {

/// Returns whether a location is a line of the user's program. A location without a line and a
/// location in a header of the system or the compiler are not. A default argument
/// location::current() has such a location if a container or std::optional::emplace makes the call.
TROUPE_API bool has_user_line(const std::source_location& where) noexcept;

} // namespace troupe
