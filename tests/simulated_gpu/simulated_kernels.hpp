// Kernels for simulated GPUs that run the processor's kernels.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <deque>

namespace troupe::gpu {

/// One for each processor kernel of the registry, to which they are to be added, as they use it
/// when they run. They behave as a GPU's: shapes are inferred at the launch, elements are accessed
/// when the stream reaches it. If the shape of an output depends on elements, the launch waits;
/// two-phase ops (two_phase_op.hpp), whose GPU kernels have two parts, have none.
std::deque<kernel_def> simulated_kernels(const registry& processor_ops);

} // namespace troupe::gpu
