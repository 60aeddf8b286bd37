// Kernels that copy and fill elements of any type.
#pragma once
#include "troupe/devices/gpu/cuda/grid.cuda.hpp"
#include "troupe/runtime/types/tensor.hpp"

namespace troupe::gpu {

cudaError_t launch_copy(const strided_copy& described, cudaStream_t in);
cudaError_t launch_fill(void* to, const void* element, size_t element_bytes, int64_t count,
                        cudaStream_t in);

} // namespace troupe::gpu
