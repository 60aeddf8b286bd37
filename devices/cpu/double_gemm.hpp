// Matrix products of double, which oneDNN does not have.
#pragma once
#include "troupe/runtime/device/stop_signal.hpp"

#include <cstdint>

namespace troupe {

/// A matrix that lies in memory as another's transpose or block: element (i, j) is at
/// data[i * row_stride + j * column_stride].
struct strided_matrix {
  const double* data;
  int64_t row_stride, column_stride;
};

/// c = a * b for m x k and k x n on the calling thread; c has rows `c_stride` apart. All extents
/// must be positive. Packs the operands into memory of its own and may throw std::bad_alloc for it.
/// Leaves off within a millisecond when `stop`, which may be null, is due.
void multiply_doubles(int64_t m, int64_t n, int64_t k, strided_matrix a, strided_matrix b,
                      double* c, int64_t c_stride, stop_signal* stop);

} // namespace troupe
