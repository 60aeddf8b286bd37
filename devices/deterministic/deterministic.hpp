// A view of a device on which steps compute the same bits with any number of threads.
#pragma once
#include "troupe/runtime/device/device.hpp"

#include <memory>

namespace troupe {

/// Returns a view of a device, over the same threads and memory, for programs whose results must
/// not depend on the number of threads. Most kernels need no change: they compute each range of a
/// loop independently, and ranges of cheap items begin at multiples of `vector_granule`. Kernels
/// that adapt to the number of threads, or that draw a seed, check device::deterministic().
std::shared_ptr<device> deterministic_view(std::shared_ptr<device> viewed);

/// Ranges of cheap items begin at multiples of this, on every device. Vector code computes whole
/// vectors in one way and the remainder of a range in another, which may differ in the last bit.
inline constexpr int64_t vector_granule = 64;

} // namespace troupe
