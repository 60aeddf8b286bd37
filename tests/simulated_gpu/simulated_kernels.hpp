// Kernels for simulated GPUs, made of the processor's.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <deque>

namespace troupe::gpu {

/// One for each processor's kernel of the registry, which they use when they run; add them to it.
/// They behave as a GPU's do: shapes are inferred when they are launched, elements are touched when
/// the stream comes to it. Where the shape of an output depends on elements, the launch waits;
/// there are none for ops that say so (two_phase_op.hpp), whose kernels on GPUs are in two halves.
std::deque<kernel_def> simulated_kernels(const registry& of);

} // namespace troupe::gpu
