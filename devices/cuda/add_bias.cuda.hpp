// What a product's library could not do while it wrote the result.
#pragma once
#include "troupe/devices/cuda/grid.cuda.hpp"
#include "troupe/runtime/dtype.hpp"

namespace troupe::gpu {

/// Adds a number to each column of a row-major matrix of f16, bf16 or f32, and replaces what is
/// negative by zero if told so.
cudaError_t launch_add_bias(void* matrix, const void* bias, int64_t rows, int64_t columns,
                            dtype type, bool rectify, cudaStream_t in);

} // namespace troupe::gpu
