// How kernels of GPUs launch. The same source is compiled twice: by nvcc for GPUs, and by the
// processor's compiler for simulated ones, where the thread of a stream runs all threads of a grid.
// What a kernel does to its elements, and how its threads work together, is thus tested wherever
// Troupe is built.
//
// A kernel is made of bodies: functors with members that are plain values, and an operator() marked
// TROUPE_DEVICE.
#pragma once
#include "troupe/devices/gpu/elements.cuda.hpp"
#include "troupe/devices/gpu/gpu_device.hpp"
#include "troupe/ops/element_types.hpp"
#include "troupe/runtime/graph.hpp"
#include "troupe/runtime/kernel.hpp"

#include <cmath>
#include <limits>

#ifdef __CUDACC__
#include <cuda_runtime.h>

#define TROUPE_GPU_KERNEL(op) op##_cuda
#ifdef __CUDA_ARCH__
#define TROUPE_ON_GRID // not in what nvcc compiles for the host
#endif
#else
#include "troupe/devices/simulated/emulated_cuda.hpp"
#include "troupe/devices/simulated/simulated_driver.hpp"

#include <atomic>

#define TROUPE_GPU_KERNEL(op) op##_simulated
#define TROUPE_ON_GRID
#endif

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

using troupe::gpu::load;
using troupe::gpu::store;

/// Says that a value is not in [0, limit): the step fails with that. What the kernel computes is
/// of no use then, but it must not read or write beyond its tensors.
class complaints {
public:
  /// `op` and `what` are texts that live as long as the program.
  complaints(kernel_context& at, const char* what)
      : at_(troupe::gpu::gpu_of(at.device()).complaints()), op_(at.origin().op().name.data()),
        what_(what) {}

  TROUPE_DEVICE void add(int64_t value, int64_t limit) const {
    if (!begin())
      return;
    at_.box->op = op_;
    at_.box->what = what_;
    at_.box->value = value;
    at_.box->limit = limit;
    at_.box->epoch = at_.epoch;
    end();
  }
  /// `what` itself says what is wrong.
  TROUPE_DEVICE void add() const { add(0, -1); }

private:
#ifdef __CUDACC__
  TROUPE_DEVICE bool begin() const {
#ifdef __CUDA_ARCH__
    // One of a warp's: the box is in the host's memory, and all may have to complain.
    auto lane = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    if (static_cast<int>(lane % 32) != __ffs(static_cast<int>(__activemask())) - 1)
      return false;
    return atomicCAS_system(&at_.box->stage, troupe::gpu::complaint::none,
                            troupe::gpu::complaint::in_writing) == troupe::gpu::complaint::none;
#else
    return false;
#endif
  }
  TROUPE_DEVICE void end() const {
#ifdef __CUDA_ARCH__
    __threadfence_system();
    atomicExch_system(&at_.box->stage, troupe::gpu::complaint::written);
#endif
  }
#else
  bool begin() const {
    int expected = troupe::gpu::complaint::none;
    return std::atomic_ref{at_.box->stage}.compare_exchange_strong(
        expected, troupe::gpu::complaint::in_writing);
  }
  void end() const { std::atomic_ref{at_.box->stage}.store(troupe::gpu::complaint::written); }
#endif

  troupe::gpu::complaint_boxes::place at_;
  const char* op_;
  const char* what_;
};

#ifdef __CUDACC__

inline constexpr int threads_per_block = 256;
inline constexpr int64_t most_blocks = 1 << 16;
inline constexpr int64_t most_of_a_warp = 1024; ///< loop passes of one item; a block has more

inline cudaStream_t stream_of(kernel_context& at) {
  auto& device = troupe::gpu::gpu_of(at.device());
  static_cast<void>(device.driver().make_current()); // else the launch says what is wrong
  return reinterpret_cast<cudaStream_t>(device.compute());
}

/// What the last launch came to.
inline status launched() {
  auto code = cudaGetLastError();
  if (code == cudaSuccess)
    return {};
  return failure(error_kind::internal, "launch: ", cudaGetErrorName(code), ", ",
                 cudaGetErrorString(code));
}

/// Launches a kernel on so many blocks. Where `together` is false, its threads do not wait for each
/// other, which simulated ones profit from.
template <bool together, class... Params>
status launch(kernel_context& at, void (*kernel)(Params...), unsigned blocks,
              std::type_identity_t<Params>... args) {
  kernel<<<blocks, threads_per_block, 0, stream_of(at)>>>(args...);
  return launched();
}

#else

// Small, so that tests with few elements have threads with several of them, and several blocks.
inline constexpr int threads_per_block = 64;
inline constexpr int64_t most_blocks = 3;
inline constexpr int64_t most_of_a_warp = 40;

template <bool together, class... Params>
status launch(kernel_context& at, void (*kernel)(Params...), unsigned blocks,
              std::type_identity_t<Params>... args) {
  auto& device = troupe::gpu::gpu_of(at.device());
  return static_cast<troupe::gpu::simulated_driver&>(device.driver())
      .launch(
          [=]() -> status {
            auto run = together ? troupe::gpu::run_grid : troupe::gpu::run_grid_apart;
            run(blocks, threads_per_block, [&] { kernel(args...); });
            return {};
          },
          device.compute());
}

#endif

/// So many blocks that each thread has one item, or a few where there are very many.
inline unsigned blocks_for(int64_t items) {
  return static_cast<unsigned>(
      std::min((items + threads_per_block - 1) / threads_per_block, most_blocks));
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
  static constexpr size_t most_bytes = 16; ///< of a value that is combined

  TROUPE_DEVICE static int size() { return Size; }
  TROUPE_DEVICE int rank() const {
#ifdef TROUPE_ON_GRID
    return static_cast<int>(threadIdx.x) % Size;
#else
    return 0;
#endif
  }

  /// Combines each thread's value with Fn::step, in the same order each time; all get the result.
  /// All threads of the group must come here.
  template <class Fn, class T>
  TROUPE_DEVICE T all(T mine) const {
    static_assert(sizeof(T) <= most_bytes);
#ifdef TROUPE_ON_GRID
    if constexpr (Size > 1) {
      struct alignas(most_bytes) cell {
        unsigned char bytes[most_bytes];
      };
      __shared__ cell scratch[threads_per_block * sizeof(T) / most_bytes + 1];
      auto* values = reinterpret_cast<T*>(scratch);
      auto at = static_cast<int>(threadIdx.x);
      values[at] = mine;
      for (int half = Size / 2; half > 0; half /= 2) {
        wait();
        if (rank() < half)
          values[at] = Fn::step(values[at], values[at + half]);
      }
      wait();
      mine = values[at - rank()];
      wait(); // before the next call writes
    }
#endif
    return mine;
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
  // A group that spans warps is a whole block: all of its threads make the same passes.
  for (int64_t i = int64_t{blockIdx.x} * per_block + threadIdx.x / Size; i < count;
       i += int64_t{gridDim.x} * per_block)
    body(i, group<Size>{});
}

/// Launches body(i, group) for all i of [0, count), each by a group of threads that suits `items`
/// loop passes, which the body shares among them: `for (j = by.rank(); j < items; j += by.size())`.
template <class Body>
status for_each_group(kernel_context& at, int64_t count, int64_t items, Body body) {
  if (count == 0)
    return {};
  auto with = [&](auto size) {
    constexpr int threads = decltype(size)::value;
    return launch<(threads > 1)>(at, each_group<threads, Body>, blocks_for(count * threads), count,
                                 body);
  };
  if (items <= 8)
    return with(std::integral_constant<int, 1>{});
  if (items <= most_of_a_warp)
    return with(std::integral_constant<int, 32>{});
  return with(std::integral_constant<int, threads_per_block>{});
}

template <class T>
TROUPE_DEVICE void atomic_add(T* to, T value) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, int64_t>)
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
  else
    atomicAdd(to, value);
#else
  *to += value; // emulated threads take turns
#endif
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
