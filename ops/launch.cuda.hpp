// How kernels of GPUs launch. The same source is compiled twice: by nvcc for GPUs, and by the
// processor's compiler for simulated ones, where a launch is a loop on the thread of a stream. What
// a kernel does to its elements is thus tested wherever Troupe is built.
//
// A kernel is made of bodies: functors with members that are plain values, and an operator() marked
// TROUPE_DEVICE.
#pragma once
#include "troupe/devices/gpu/gpu_device.hpp"
#include "troupe/ops/element_types.hpp"
#include "troupe/runtime/graph.hpp"
#include "troupe/runtime/kernel.hpp"

#include <cmath>
#include <limits>

#ifdef __CUDACC__
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define TROUPE_DEVICE __host__ __device__
#define TROUPE_GPU_KERNEL(op) op##_cuda
#else
#include "troupe/devices/simulated/simulated_driver.hpp"

#include <atomic>

#define TROUPE_DEVICE
#define TROUPE_GPU_KERNEL(op) op##_simulated
#endif

namespace troupe::ops::gpu {
#ifdef __CUDACC__
inline namespace on_cuda {
#else
inline namespace simulated {
#endif

/// Elements that kernels of GPUs compute with; complex ones and texts are left to processors.
inline constexpr auto real_types = types::real_numbers;

/// The element as arithmetic wants it, and back.
template <class T>
TROUPE_DEVICE compute_type<T> load(const T& value) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float16>)
    return __half2float(__ushort_as_half(value.bits));
  else if constexpr (std::is_same_v<T, bfloat16>)
    return __uint_as_float(uint32_t{value.bits} << 16);
  else
    return value;
#else
  return static_cast<compute_type<T>>(value);
#endif
}

template <class T>
TROUPE_DEVICE T store(const compute_type<T>& value) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float16>) {
    T made;
    made.bits = __half_as_ushort(__float2half_rn(value));
    return made;
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    auto bits = __float_as_uint(value);
    T made;
    made.bits = static_cast<uint16_t>(value != value ? (bits >> 16) | 0x40
                                                     : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    return made;
  } else {
    return value;
  }
#else
  return static_cast<T>(value);
#endif
}

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

inline cudaStream_t stream_of(kernel_context& at) {
  auto& device = troupe::gpu::gpu_of(at.device());
  static_cast<void>(device.driver().make_current()); // else the launch says what is wrong
  return reinterpret_cast<cudaStream_t>(device.compute());
}

/// So many blocks that each thread has one item, or a few where there are very many.
inline unsigned blocks_for(int64_t items, int threads = threads_per_block) {
  constexpr int64_t most = 1 << 16;
  return static_cast<unsigned>(std::min((items + threads - 1) / threads, most));
}

/// What the last launch came to.
inline status launched() {
  auto code = cudaGetLastError();
  if (code == cudaSuccess)
    return {};
  return failure(error_kind::internal, "launch: ", cudaGetErrorName(code), ", ",
                 cudaGetErrorString(code));
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
  each<<<blocks_for(count), threads_per_block, 0, stream_of(at)>>>(count, body);
  return launched();
}

/// Threads that work on one item together: `Size` of them, a power of two up to a block.
template <int Size>
class group {
public:
  static constexpr size_t most_bytes = 16; ///< of a value that is combined

  TROUPE_DEVICE static int size() { return Size; }
  TROUPE_DEVICE int rank() const {
#ifdef __CUDA_ARCH__
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
#ifdef __CUDA_ARCH__
    if constexpr (Size > 1) {
      __shared__ alignas(16) unsigned char scratch[threads_per_block * most_bytes];
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
#ifdef __CUDA_ARCH__
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
  auto in = stream_of(at);
  if (items <= 8)
    each_group<1><<<blocks_for(count), threads_per_block, 0, in>>>(count, body);
  else if (items <= 1024)
    each_group<32><<<blocks_for(count * 32), threads_per_block, 0, in>>>(count, body);
  else
    each_group<threads_per_block>
        <<<blocks_for(count * threads_per_block), threads_per_block, 0, in>>>(count, body);
  return launched();
}

template <class T>
TROUPE_DEVICE void atomic_add(T* to, T value) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, int64_t>)
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
  else
    atomicAdd(to, value);
#else
  *to += value;
#endif
}

#else

/// One loop on the stream's thread.
template <class Loop>
status launch_loop(kernel_context& at, Loop loop) {
  auto& device = troupe::gpu::gpu_of(at.device());
  return static_cast<troupe::gpu::simulated_driver&>(device.driver())
      .launch(
          [loop]() -> status {
            loop();
            return {};
          },
          device.compute());
}

template <class Body>
status for_each(kernel_context& at, int64_t count, Body body) {
  if (count == 0)
    return {};
  return launch_loop(at, [count, body] {
    for (int64_t i = 0; i < count; ++i)
      body(i);
  });
}

struct alone {
  static int size() { return 1; }
  int rank() const { return 0; }
  template <class Fn, class T>
  T all(T mine) const {
    return mine;
  }
};

template <class Body>
status for_each_group(kernel_context& at, int64_t count, int64_t, Body body) {
  return for_each(at, count, [body](int64_t i) { body(i, alone{}); });
}

template <class T>
void atomic_add(T* to, T value) {
  *to += value;
}

#endif

} // namespace on_cuda or simulated
} // namespace troupe::ops::gpu
