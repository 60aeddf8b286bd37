// Matrix products of double, which oneDNN does not have.
#pragma once
#include "troupe/runtime/device/stop_signal.hpp"

#include <cstdint>

namespace troupe {

/// A matrix in memory that may be a transpose or a block of another: element (i, j) is at
/// data[i * row_stride + j * column_stride].
struct strided_matrix {
  const double* data;
  int64_t row_stride, column_stride;
};

/// Computes c = a * b for m x k and k x n on the calling thread; rows of c are `c_stride` apart.
/// All extents must be positive. Packs the operands into buffers, and may throw std::bad_alloc.
/// Returns early, within a millisecond, when `stop` is due; `stop` may be null.
void multiply_doubles(int64_t m, int64_t n, int64_t k, strided_matrix a, strided_matrix b,
                      double* c, int64_t c_stride, stop_signal* stop);

} // namespace troupe
