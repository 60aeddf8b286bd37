// Test tensors that show how a library treats ties, infinities and NaNs, where this is
// undocumented.
#pragma once
#include "troupe/devices/gpu/core/read_word.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// Elements of which many are equal; in the first two of four rounds, all are.
template <class T>
struct ties_body {
  static constexpr int rounds = 4;

  T* to;
  int round;
  TROUPE_DEVICE void operator()(int64_t i) const {
    using number = compute_type<T>;
    auto mixed = (static_cast<uint32_t>(i) + static_cast<uint32_t>(round)) * 2654435761u;
    auto kind = mixed >> 26; // one of 64 kinds, pseudorandom
    auto value = static_cast<number>(1 + kind % 3);
    if (round == 0)
      value = 1;
    else if (round == 1 || (kind > 1 && kind < 24))
      value = -std::numeric_limits<number>::infinity();
    else if (kind < 2)
      value = kind == 0 ? std::numeric_limits<number>::quiet_NaN()
                        : std::numeric_limits<number>::infinity();
    to[i] = store<T>(value);
  }
};

/// Small integers, whose sums are the same in any order.
template <class T>
struct small_numbers_body {
  T* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    to[i] = store<T>(static_cast<compute_type<T>>(1 + i % 3));
  }
};

template <class T>
struct compare_body {
  const T *a, *b;
  int32_t* differ;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto x = load(a[i]), y = load(b[i]);
    if (!(x == y || (x != x && y != y)))
      *differ = 1; // all threads write the same value
  }
};

/// Compares the results of a library with those of Troupe's kernels.
class comparison {
public:
  static result<comparison> begin(kernel_context& at) {
    comparison started;
    TROUPE_ASSIGN(started.differ_, tensor::make(dtype::i32, shape{1}, at.memory()));
    fill_zeros(at, started.differ_);
    return started;
  }
  template <class T>
  status add(kernel_context& at, const tensor& a, const tensor& b) {
    return for_each(at, a.elements(),
                    compare_body<T>{a.data<T>(), b.data<T>(), differ_.data<int32_t>()});
  }
  /// Waits for the device; fails if any result differed.
  status end(kernel_context& at) {
    auto& on = troupe::gpu::gpu_of(at.device());
    TROUPE_ASSIGN(auto differ,
                  troupe::gpu::read_word(on, differ_.data<int32_t>(), std::chrono::seconds{10}));
    return differ == 0 ? status{}
                       : failure(error_kind::unimplemented, "the library computes something else");
  }

private:
  tensor differ_;
};

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
