// How long launches take on a GPU.
#pragma once
#include "troupe/devices/gpu/core/driver.hpp"

#include <chrono>
#include <functional>
#include <vector>

namespace troupe::gpu {

/// Launches so many times into a stream, after once that does not count, waits, and returns what
/// each took in nanoseconds. What others launch into the stream meanwhile is in there, too. Waits
/// at most that long, also for what was launched before: deadline_exceeded then. The stream must
/// not be being captured.
result<std::vector<int64_t>> time_launches(driver& on, stream in, int times,
                                           const std::function<status()>& launch,
                                           std::chrono::microseconds at_most);

} // namespace troupe::gpu
