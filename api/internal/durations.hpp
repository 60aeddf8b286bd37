// How functions of the public interface check durations. Not for users.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <chrono>
#include <string_view>

namespace troupe {

/// Fails for a duration below `least`; `name` is that of the option or argument.
inline status check_duration(std::string_view name, std::chrono::milliseconds value,
                             std::chrono::milliseconds least = {}) {
  if (value >= least)
    return {};
  return invalid(name, least.count() > 0 ? " must be positive" : " must not be negative", ", got ",
                 value.count(), " ms");
}

} // namespace troupe
