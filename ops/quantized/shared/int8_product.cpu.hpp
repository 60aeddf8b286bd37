// Products of matrices of bytes, by oneDNN.
#pragma once
#include "troupe/ops/conv/shared/onednn.cpu.hpp"

namespace troupe::ops {

/// c = (op(a) - zero_a) * (op(b) - zero_b) for row-major, dense matrices: op(a) is m x k, op(b) is
/// k x n, c is m x n, and `transpose_a` means that a is stored as k x m. c must not overlap a or b.
/// The result is exact, except that sums wrap around at 32 bits.
struct int8_product {
  bool transpose_a = false, transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  const uint8_t* a = nullptr;
  const int8_t* b = nullptr;
  int32_t* c = nullptr;
  uint8_t zero_a = 0;
  int8_t zero_b = 0;

  double multiplications() const {
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

/// An estimate of the cost.
inline constexpr double nanoseconds_per_byte_product = 0.002;

/// Multiplies on the threads of the device.
status multiply_bytes(kernel_context& at, const int8_product& product);

/// Multiplies on the calling thread, in a job of onednn::for_each_job. All extents must be
/// positive.
status multiply_bytes(kernel_context& at, dnnl::stream& stream, const int8_product& product);

} // namespace troupe::ops
