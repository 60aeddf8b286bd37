// The clock of steps and of their deadlines.
#pragma once
#include <chrono>

namespace troupe {

/// Deadlines of steps are points in time of this clock.
using step_clock = std::chrono::steady_clock;

} // namespace troupe
