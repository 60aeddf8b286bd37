// The time of a simulation, for all code of the process.
#pragma once
#include <chrono>

namespace troupe::simulate {

using clock = std::chrono::steady_clock;
using time_point = clock::time_point;
using duration = clock::duration;

/// Sets the result of std::chrono::steady_clock::now(), here and in CAF.
void set_time(time_point now) noexcept;

} // namespace troupe::simulate
