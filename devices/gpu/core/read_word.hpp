// A number that a kernel has left in a GPU's memory.
#pragma once
#include "troupe/devices/gpu/core/gpu_device.hpp"

namespace troupe::gpu {

/// Reads it when all that this thread has launched has run, and waits for that, at most that long:
/// deadline_exceeded then. Not while launches are noted down.
result<int32_t> read_word(gpu_device& on, const int32_t* from, std::chrono::microseconds at_most);

} // namespace troupe::gpu
