// Matrix products on the CPU.
#pragma once
#include "troupe/runtime/device/device.hpp"

namespace troupe {

/// Computes c = op(a) * op(b) on the calling thread, for row-major, dense matrices of float or
/// double: op(a) is m x k, op(b) is k x n, c is m x n. With `transpose_a`, a is stored as k x m. c
/// must not overlap a or b. k == 0 gives zeros. Fails for negative extents, and for sizes that
/// overflow.
template <class T>
status gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const T* a,
            const T* b, T* c);

/// Computes the same, with the rows (or columns) of c spread over the threads of the device.
/// Returns early, within some 20 ms, when `stop` is due: c is then invalid.
template <class T>
status gemm(device& processor, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
            const T* a, const T* b, T* c, stop_signal* stop = nullptr);

} // namespace troupe
