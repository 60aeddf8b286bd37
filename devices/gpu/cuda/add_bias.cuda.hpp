// A kernel that adds biases to results of a library.
#pragma once
#include "troupe/devices/gpu/core/add_bias.hpp"
#include "troupe/devices/gpu/cuda/grid.cuda.hpp"

namespace troupe::gpu {

/// Adds a number to each channel of f16, bf16 or f32, and replaces negative numbers by zero if
/// `applied.rectify`. `output` must not be empty.
cudaError_t launch_add_bias(const biased_result& output, const epilogue& applied, cudaStream_t in);

} // namespace troupe::gpu
