// The back end of launch.cuda.hpp for CUDA: launches kernels on GPUs and provides the libraries.
#pragma once
#include "troupe/devices/gpu/core/device_errors.hpp"
#include "troupe/devices/gpu/core/elements.cuda.hpp"
#include "troupe/devices/gpu/core/gpu_device.hpp"
#include "troupe/devices/gpu/cuda/layers.hpp"
#include "troupe/devices/gpu/cuda/solver.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <cuda_runtime.h>

/// The name of a kernel's definition.
#define TROUPE_GPU_KERNEL(op) op##_cuda
#ifdef __CUDA_ARCH__
#define TROUPE_ON_GRID // not defined in nvcc's host compilation
#endif

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

inline constexpr int threads_per_block = 256;
inline constexpr int64_t max_blocks = 1 << 16;
inline constexpr int64_t max_of_a_warp =
    1024; ///< the maximum loop passes of an item for a warp; longer items get a block

inline cudaStream_t stream_of(kernel_context& at) {
  auto& device = troupe::gpu::gpu_of(at.device());
  static_cast<void>(device.driver().make_current()); // on failure the launch reports the error
  return reinterpret_cast<cudaStream_t>(device.compute());
}

/// The result of the last launch.
inline status launched() {
  auto code = cudaGetLastError();
  if (code == cudaSuccess)
    return {};
  return failure(error_kind::internal, "launch: ", cudaGetErrorName(code), ", ",
                 cudaGetErrorString(code));
}

/// Launches a kernel on this many blocks. Where `together` is false, its threads do not wait for
/// each other, which emulations can exploit.
template <bool together, class... Params>
status launch(kernel_context& at, void (*kernel)(Params...), unsigned blocks,
              std::type_identity_t<Params>... args) {
  kernel<<<blocks, threads_per_block, 0, stream_of(at)>>>(args...);
  return launched();
}

/// Returns whether this thread may write the device_error. The second function marks it as written.
TROUPE_DEVICE inline bool begin_device_error([[maybe_unused]] int& stage) {
#ifdef __CUDA_ARCH__
  // One thread per warp: the box is in the host's memory, and all threads may have errors to
  // report.
  auto lane = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  if (static_cast<int>(lane % 32) != __ffs(static_cast<int>(__activemask())) - 1)
    return false;
  // Atomic among the threads of this GPU only: the host only reads. Few machines have system-wide
  // atomic operations on the host's memory.
  return atomicCAS(&stage, troupe::gpu::device_error::none,
                   troupe::gpu::device_error::in_writing) == troupe::gpu::device_error::none;
#else
  return false;
#endif
}
TROUPE_DEVICE inline void end_device_error([[maybe_unused]] int& stage) {
#ifdef __CUDA_ARCH__
  __threadfence_system();
  atomicExch(&stage, troupe::gpu::device_error::written);
#endif
}

inline result<troupe::gpu::solver*> solver_of(kernel_context& at) {
  return troupe::gpu::cuda_solver(troupe::gpu::gpu_of(at.device()));
}

/// The library of layers, or null.
inline troupe::gpu::layer_library* layers() { return troupe::gpu::cuda_layers(); }

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
