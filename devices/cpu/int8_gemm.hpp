// Products of matrices of bytes on the CPU.
#pragma once
#include "troupe/runtime/device.hpp"

namespace troupe {

/// c = (op(a) - zero_a) * (op(b) - zero_b) for row-major, dense matrices: op(a) is m x k, op(b) is
/// k x n, c is m x n, and `transpose_a` says that a is stored as k x m. c must not overlap a or b.
/// Exact, but that sums wrap around at 32 bits.
struct int8_product {
  bool transpose_a = false, transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  const uint8_t* a = nullptr;
  const int8_t* b = nullptr;
  int32_t* c = nullptr;
  uint8_t zero_a = 0;
  int8_t zero_b = 0;
};

/// Multiplies on the calling thread alone.
status int8_gemm(const int8_product& of);

/// The same, with the rows (or columns) of c spread over the threads of the device. Leaves off when
/// `stop` is due: c is then of no use.
status int8_gemm(device& on, const int8_product& of, stop_signal* stop = nullptr);

} // namespace troupe
