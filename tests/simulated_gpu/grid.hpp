// Grids for the kernels of devices/gpu/cuda, on the calling thread.
#pragma once
#include "tests/simulated_gpu/emulated_cuda.hpp"

#include <cstdint>
#include <type_traits>

namespace troupe::gpu {

using cudaStream_t = void*;
enum cudaError_t { cudaSuccess, cudaErrorInvalidValue };
struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};

inline constexpr int threads_per_block = 64, max_blocks = 3;

template <class... Params>
cudaError_t launch(void (*kernel)(Params...), dim3 grid, dim3 block, cudaStream_t,
                   std::type_identity_t<Params>... args) {
  run_grid(grid, block, [&] { kernel(args...); });
  return cudaSuccess;
}

} // namespace troupe::gpu
