// Measures the time of launches on a GPU.
#pragma once
#include "troupe/devices/gpu/core/driver.hpp"

#include <chrono>
#include <functional>
#include <vector>

namespace troupe::gpu {

/// Launches `times` times into a stream, after one untimed launch, waits, and returns the
/// nanoseconds of each. Concurrent launches of other threads into the stream count as well. Waits
/// at most `at_most`, also for earlier launches, then fails with deadline_exceeded. The stream must
/// not be in a capture.
result<std::vector<int64_t>> time_launches(driver& target, stream in, int times,
                                           const std::function<status()>& launch,
                                           std::chrono::microseconds at_most);

} // namespace troupe::gpu
