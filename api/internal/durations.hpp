// Checks durations that users pass. Internal.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <chrono>
#include <string_view>

namespace troupe {

/// Fails for a duration below `minimum`; `name` is the name of the option or argument.
inline status check_duration(std::string_view name, std::chrono::milliseconds value,
                             std::chrono::milliseconds minimum = {}) {
  if (value >= minimum)
    return {};
  return invalid(name, minimum.count() > 0 ? " must be positive" : " must not be negative",
                 ", got ", value.count(), " ms");
}

} // namespace troupe
