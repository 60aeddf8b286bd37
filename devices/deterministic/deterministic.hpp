// A device on which steps compute the same bits with any number of threads.
#pragma once
#include "troupe/runtime/device/device.hpp"

#include <memory>

namespace troupe {

/// Returns a view of a device, over the same threads and memory, for programs whose results must
/// not depend on the number of threads. Kernels need not know: they compute each range of a loop as
/// if it were alone, and ranges of cheap items begin at multiples of `vector_granule`. Those that
/// would do better by looking at the number of threads, or that draw a seed, ask
/// device::deterministic().
std::shared_ptr<device> deterministic_view(std::shared_ptr<device> of);

/// Ranges of cheap items begin at multiples of this, on every device: vector code computes whole
/// vectors in one way and the rest of a range in another, which may differ in the last bit.
inline constexpr int64_t vector_granule = 64;

} // namespace troupe
