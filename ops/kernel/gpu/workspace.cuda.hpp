// Calls of CUB, and launches of its substitutes on other back ends.
#pragma once
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

#ifdef __CUDACC__
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace troupe::ops::gpu {
inline namespace on_cuda {

inline status outcome(cudaError_t error_code) {
  auto last = launched(); // clears the error, so that a later launch does not report it
  if (error_code == cudaSuccess)
    return last;
  return failure(error_kind::internal, "launch: ", cudaGetErrorName(error_code), ", ",
                 cudaGetErrorString(error_code));
}

/// Calls call(memory, bytes, stream) twice, as CUB requires: the first call returns the size of the
/// workspace, the second works. Afterwards the workspace belongs to the next launch, as any memory
/// that a kernel releases.
template <class Call>
status with_workspace(kernel_context& at, Call call) {
  auto in = stream_of(at);
  size_t bytes = 0;
  TROUPE_TRY(outcome(call(nullptr, bytes, in)));
  bytes = std::max<size_t>(bytes, 1);
  TROUPE_ASSIGN(auto workspace,
                tensor::make(dtype::u8, shape{static_cast<int64_t>(bytes)}, at.memory()));
  return outcome(call(workspace.raw(), bytes, in));
}

/// The sequence fn(0), fn(1), ... as an iterator of CUB.
template <class Fn>
auto each_of(Fn fn) {
  return thrust::make_transform_iterator(thrust::counting_iterator<int64_t>{0}, fn);
}

} // namespace on_cuda
} // namespace troupe::ops::gpu
#else
namespace troupe::ops::gpu {
inline namespace on_host {

/// Launches a kernel of one thread.
template <class Loop>
status launch_alone(kernel_context& at, Loop loop) {
  return for_each(at, 1, [loop](int64_t) { loop(); });
}

} // namespace on_host
} // namespace troupe::ops::gpu
#endif
