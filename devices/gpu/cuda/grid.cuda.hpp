// Launches of the kernels of this folder. TROUPE_GPU_GRID may name a header that defines emulated
// launches, for machines without a GPU.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#ifdef TROUPE_GPU_GRID
#include TROUPE_GPU_GRID
#else
#include <cuda_runtime.h>
#endif

namespace troupe::gpu {

#if !defined(TROUPE_GPU_GRID) && defined(__CUDACC__)

inline constexpr int threads_per_block = 256, max_blocks = 1 << 16;

template <class... Params>
cudaError_t launch(void (*kernel)(Params...), dim3 grid, dim3 block, cudaStream_t in,
                   std::type_identity_t<Params>... args) {
  kernel<<<grid, block, 0, in>>>(args...);
  return cudaGetLastError();
}

#endif
#if defined(TROUPE_GPU_GRID) || defined(__CUDACC__)

/// One thread for each item, up to max_blocks; beyond, several items for each thread.
inline unsigned blocks_for(int64_t items) {
  return static_cast<unsigned>(
      std::min<int64_t>((items + threads_per_block - 1) / threads_per_block, max_blocks));
}

#endif

} // namespace troupe::gpu
