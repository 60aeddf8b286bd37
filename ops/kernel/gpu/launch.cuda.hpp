// Launches of GPU kernels. nvcc compiles the same source for GPUs, and the processor's compiler
// compiles it for other back ends that run grids of threads. Such a back end names a header in
// TROUPE_GPU_BACKEND with the contents of cuda_backend.cuda.hpp. The tests have one, by which the
// arithmetic and the thread cooperation of every kernel are tested wherever Troupe is built.
//
// A kernel consists of bodies: functors with plain values as members, and an operator() marked
// TROUPE_DEVICE.
#pragma once
#include "troupe/devices/gpu/core/elements.cuda.hpp"
#include "troupe/devices/gpu/core/gpu_device.hpp"
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#ifdef __CUDACC__
#include "troupe/ops/kernel/gpu/cuda_backend.cuda.hpp"
#else
#include TROUPE_GPU_BACKEND
#endif

#include <cmath>
#include <limits>

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

using troupe::gpu::load;
using troupe::gpu::store;

/// Reports that a value is not in [0, limit), which fails the step. The kernel's results are then
/// unused, but it must not read or write outside of its tensors.
class device_errors {
public:
  /// `text` names the value, "indices", or is a whole message; of static storage duration.
  device_errors(kernel_context& at, const char* text)
      : at_(troupe::gpu::gpu_of(at.device()).device_errors()), op_(at.origin().op().name.data()),
        text_(text) {}

  TROUPE_DEVICE void add(int64_t value, int64_t limit) const {
    if (!begin_device_error(at_.box->stage))
      return;
    at_.box->op = op_;
    at_.box->text = text_;
    at_.box->value = value;
    at_.box->limit = limit;
    at_.box->epoch = at_.epoch;
    end_device_error(at_.box->stage);
  }
  /// Reports an error whose message is `text`.
  TROUPE_DEVICE void add() const { add(0, -1); }

private:
  troupe::gpu::device_error_flags::place at_;
  const char* op_;
  const char* text_;
};

/// As many blocks as give each thread one item, or a few items where there are very many.
inline unsigned blocks_for(int64_t items) {
  return static_cast<unsigned>(
      std::min((items + threads_per_block - 1) / threads_per_block, max_blocks));
}

template <class Body>
__global__ void each(int64_t count, Body body) {
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += int64_t{blockDim.x} * gridDim.x)
    body(i);
}

/// Launches body(i) for all i of [0, count), in any order.
template <class Body>
status for_each(kernel_context& at, int64_t count, Body body) {
  if (count == 0)
    return {};
  return launch<false>(at, each<Body>, blocks_for(count), count, body);
}

/// Threads that work on one item together: `Size` of them, a power of two up to a block.
template <int Size>
class group {
public:
  static constexpr size_t max_bytes = 16; ///< the maximum size of a combined value

  TROUPE_DEVICE static int size() { return Size; }
  TROUPE_DEVICE int rank() const {
#ifdef TROUPE_ON_GRID
    return static_cast<int>(threadIdx.x) % Size;
#else
    return 0;
#endif
  }

  /// Combines the threads' values with Fn::step, in the same order in each run; every thread gets
  /// the result. All threads of the group must call it.
  template <class Fn, class T>
  TROUPE_DEVICE T all(T own_value) const {
    static_assert(sizeof(T) <= max_bytes);
#ifdef TROUPE_ON_GRID
    if constexpr (Size > 1) {
      struct alignas(max_bytes) cell {
        unsigned char bytes[max_bytes];
      };
      __shared__ cell scratch[threads_per_block * sizeof(T) / max_bytes + 1];
      auto* values = reinterpret_cast<T*>(scratch);
      auto at = static_cast<int>(threadIdx.x);
      values[at] = own_value;
      for (int half = Size / 2; half > 0; half /= 2) {
        wait();
        if (rank() < half)
          values[at] = Fn::step(values[at], values[at + half]);
      }
      wait();
      own_value = values[at - rank()];
      wait(); // until all have read, before the next call writes
    }
#endif
    return own_value;
  }

private:
  TROUPE_DEVICE static void wait() {
#ifdef TROUPE_ON_GRID
    if constexpr (Size <= 32)
      __syncwarp();
    else
      __syncthreads();
#endif
  }
};

template <int Size, class Body>
__global__ void each_group(int64_t count, Body body) {
  constexpr int per_block = threads_per_block / Size;
  // A group that spans warps is a whole block, so all of its threads make the same passes.
  for (int64_t i = int64_t{blockIdx.x} * per_block + threadIdx.x / Size; i < count;
       i += int64_t{gridDim.x} * per_block)
    body(i, group<Size>{});
}

/// Launches body(i, group) for all i of [0, count). The group size suits `items` loop passes, which
/// the body divides among the threads: `for (j = group.rank(); j < items; j += group.size())`.
template <class Body>
status for_each_group(kernel_context& at, int64_t count, int64_t items, Body body) {
  if (count == 0)
    return {};
  auto launch_size = [&](auto size) {
    constexpr int threads = decltype(size)::value;
    return launch<(threads > 1)>(at, each_group<threads, Body>, blocks_for(count * threads), count,
                                 body);
  };
  if (items <= 8)
    return launch_size(std::integral_constant<int, 1>{});
  if (items <= max_of_a_warp)
    return launch_size(std::integral_constant<int, 32>{});
  return launch_size(std::integral_constant<int, threads_per_block>{});
}

template <class T>
TROUPE_DEVICE void atomic_add(T* to, T value) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, int64_t>)
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
  else
    atomicAdd(to, value);
#else
  *to += value; // emulated threads run one at a time
#endif
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
