// How the kernels of this folder are launched. Where TROUPE_EMULATE_GRID is defined, on the calling
// thread and an emulated grid, for tests on machines without a GPU.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#ifdef TROUPE_EMULATE_GRID
#include "troupe/devices/simulated/emulated_cuda.hpp"
#else
#include <cuda_runtime.h>
#endif

namespace troupe::gpu {

#ifdef TROUPE_EMULATE_GRID

using cudaStream_t = void*;
enum cudaError_t { cudaSuccess, cudaErrorInvalidValue };
struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};

inline constexpr int threads_per_block = 64, most_blocks = 3;

template <class... Params>
cudaError_t launch(void (*kernel)(Params...), dim3 grid, dim3 block, cudaStream_t,
                   std::type_identity_t<Params>... args) {
  run_grid(grid, block, [&] { kernel(args...); });
  return cudaSuccess;
}

#elif defined(__CUDACC__)

inline constexpr int threads_per_block = 256, most_blocks = 1 << 16;

template <class... Params>
cudaError_t launch(void (*kernel)(Params...), dim3 grid, dim3 block, cudaStream_t in,
                   std::type_identity_t<Params>... args) {
  kernel<<<grid, block, 0, in>>>(args...);
  return cudaGetLastError();
}

#endif
#if defined(TROUPE_EMULATE_GRID) || defined(__CUDACC__)

/// One item for each thread, or a few where there are very many.
inline unsigned blocks_for(int64_t items) {
  return static_cast<unsigned>(
      std::min<int64_t>((items + threads_per_block - 1) / threads_per_block, most_blocks));
}

#endif

} // namespace troupe::gpu
