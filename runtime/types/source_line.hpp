// Which source locations say where in the user's program a call stands.
#pragma once
#include "troupe/runtime/export.hpp"

#include <source_location>

namespace troupe {

/// False for a location that is no line of a user's program: one without a line, and one in a
/// header of the system or of the compiler. A default argument location::current() has such a
/// location where a container or std::optional::emplace makes the call.
TROUPE_API bool has_user_line(const std::source_location& where) noexcept;

} // namespace troupe
