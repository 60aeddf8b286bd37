// Sorts, scans, selections and reductions of many elements, for GPU kernels: by CUB on NVIDIA GPUs,
// by the standard library on other back ends, with the same results.
//
// Each function launches and returns, and can be recorded. Its workspace is memory of the kernel.
// CUB is compiled only beside this header (*.cuda.cu), for the types named here.
#pragma once
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"
#include "troupe/ops/kernel/reducers.hpp"
#include "troupe/ops/kernel/scan_options.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

struct sorted_rows {
  tensor keys;
  tensor places; ///< each key's position in its original row: i32 or i64, as wide as the keys
};

/// Sorts each row (along the last axis) of `keys`, words of 4 or 8 bytes, as unsigned numbers of
/// their lowest `bits` bits (at least one). The sort is stable. `keys` is unchanged. Rows of 4-byte
/// words must be shorter than 2^31.
result<sorted_rows> sort_rows(kernel_context& at, const tensor& keys, int bits);

/// Accumulates along each of `rows` rows with Fn, addition or multiplication. T is int32_t or
/// int64_t; the order of float additions would vary between runs. `to` may be `from`.
template <class Fn, class T>
status scan_rows(kernel_context& at, const T* from, T* to, int64_t rows, int64_t columns,
                 scan_options options);

/// The sums of the first 0, 1, ... and all `numbers` (bool, u8, i32 or i64), as i64; one more than
/// there are numbers.
result<tensor> partial_sums(kernel_context& at, const tensor& numbers);

struct selected_places {
  tensor places; ///< i64, with room for all; the selected ones come first, in order
  tensor count;  ///< i64: the number of selected ones
};

/// The positions of the nonzero elements of `flags` (bool or u8).
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

/// Reduces each of `rows` rows to one element, in the same order in each run. Fn is a reducer of
/// ops/kernel/reducers.hpp, for the types of Sum, or bool for conjunction and disjunction; or
/// half_of_squares, for floats.
template <class Fn, class T>
status reduce_rows(kernel_context& at, const T* from, T* to, int64_t rows, int64_t columns);

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
