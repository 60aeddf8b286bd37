// What a library could not do while it wrote its result.
#pragma once
#include "troupe/devices/gpu/core/add_bias.hpp"
#include "troupe/devices/gpu/cuda/grid.cuda.hpp"

namespace troupe::gpu {

/// Adds a number to each channel of f16, bf16 or f32, and replaces what is negative by zero if told
/// so. There are elements.
cudaError_t launch_add_bias(const biased_result& to, const epilogue& what, cudaStream_t in);

} // namespace troupe::gpu
