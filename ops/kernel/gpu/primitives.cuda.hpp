// Sorts, scans, selections and reductions of many elements, for kernels of GPUs: by CUB on
// NVIDIA's, by the standard library on other back ends, with the same results.
//
// Each launches and returns, and can be recorded. What it works in is memory of the kernel's. CUB
// is compiled beside this header (*.cuda.cu), for the types named here, and nowhere else.
#pragma once
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"
#include "troupe/ops/kernel/reducers.hpp"
#include "troupe/ops/kernel/scan_options.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

struct sorted_rows {
  tensor keys;
  tensor places; ///< where in its row each key was: i32 or i64, as wide as the keys
};

/// Sorts each row (along the last axis) of `keys`, words of 4 or 8 bytes, as numbers without a sign
/// of which the lowest `bits`, at least one, count. Equal ones keep their order. `keys` stays as it
/// is. Rows of words of 4 bytes must be shorter than 2^31.
result<sorted_rows> sort_rows(kernel_context& at, const tensor& keys, int bits);

/// Accumulates along each of `rows` rows with Fn, addition or multiplication. T is int32_t or
/// int64_t: floats would be added in another order each time. `to` may be `from`.
template <class Fn, class T>
status scan_rows(kernel_context& at, const T* from, T* to, int64_t rows, int64_t columns,
                 scan_options how);

/// The sums of the first 0, 1, ... and all `numbers` (bool, u8, i32 or i64): i64, one more than
/// there are.
result<tensor> partial_sums(kernel_context& at, const tensor& numbers);

struct selected_places {
  tensor places; ///< i64: room for all; those that are selected come first, in their order
  tensor count;  ///< i64: one number, how many these are
};

/// The places of the elements of `flags` (bool or u8) that are not 0.
result<selected_places> select_flagged(kernel_context& at, const tensor& flags);

/// Half of the sum of the squares.
struct half_of_squares : addition {
  template <class T>
  static constexpr T map(const T& x) {
    return x * x;
  }
  template <class T>
  static constexpr T finish(const T& total, int64_t) {
    return total / 2;
  }
};

/// Reduces each of `rows` rows to one element, in the same order each time. Fn is a reducer of
/// ops/kernel/reducers.hpp, of the types that Sum has, or bool for conjunction and disjunction; or
/// half_of_squares, of floats.
template <class Fn, class T>
status reduce_rows(kernel_context& at, const T* from, T* to, int64_t rows, int64_t columns);

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
