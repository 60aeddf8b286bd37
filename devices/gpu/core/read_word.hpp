// Reads a number that a kernel wrote to a GPU's memory.
#pragma once
#include "troupe/devices/gpu/core/gpu_device.hpp"

namespace troupe::gpu {

/// Reads the word after all earlier launches of this thread. Blocks for at most `at_most`, then
/// fails with deadline_exceeded. Must not be called during a capture.
result<int32_t> read_word(gpu_device& target, const int32_t* source,
                          std::chrono::microseconds at_most);

} // namespace troupe::gpu
