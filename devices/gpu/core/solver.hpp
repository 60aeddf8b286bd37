// The interface of libraries for linear algebra of dense matrices on a GPU.
#pragma once
#include "troupe/devices/gpu/core/gpu_device.hpp"

namespace troupe::gpu {

/// `count` column-major matrices of one size, stored one after the other.
struct matrix_stack {
  void* data = nullptr;
  int64_t rows = 0, columns = 0, count = 1;
  /// Null, or the addresses of the matrices, in device memory: then one launch computes all
  /// matrices instead of one launch for each.
  void* const* addresses = nullptr;

  int64_t size() const { return rows * columns; }
};

enum class singular_vectors : uint8_t { none, thin, all };

/// Launches the LAPACK functions of these names, in place, for elements of f32 or f64. Pointers are
/// to device memory, and no extent is 0. All stacks of a call have the same number of matrices, and
/// either all or none have `addresses`. `info` has a number for each matrix: 0 means success.
/// Thread-safe.
class solver {
public:
  struct call {
    gpu_device& on;
    allocator& memory; ///< for temporary memory
    dtype type;
  };

  virtual ~solver() = default;

  /// Cholesky: a = u' u. Reads only the upper triangle of a and writes u there. May overwrite the
  /// lower triangle.
  virtual status potrf(const call& at, const matrix_stack& a, int* info) = 0;
  /// LU with permuted rows: a = l u. Pivots count from 1, as many for each matrix as it has rows.
  virtual status getrf(const call& at, const matrix_stack& a, int* pivots, int* info) = 0;
  /// b = a^-1 b, or with a transposed; `lu` and `pivots` are results of getrf for a.
  virtual status getrs(const call& at, bool transpose, const matrix_stack& lu, const int* pivots,
                       const matrix_stack& b, int* info) = 0;
  /// b = b a^-1, or with a transposed, for a triangular a.
  virtual status trsm(const call& at, bool upper, bool transpose, const matrix_stack& a,
                      const matrix_stack& b) = 0;
  /// QR: writes r into the upper triangle of a, and below it the reflectors that tau belongs to.
  /// tau has as many elements for each matrix as its smaller extent.
  virtual status geqrf(const call& at, const matrix_stack& a, void* tau, int* info) = 0;
  /// Makes q (with no more columns than rows) of the first `reflectors` columns.
  virtual status orgqr(const call& at, const matrix_stack& q, int64_t reflectors, const void* tau,
                       int* info) = 0;
  /// a = u diag(s) vt, for matrices with no fewer rows than columns; overwrites a. u has as many
  /// columns as a, or as a has rows if all vectors are wanted.
  virtual status gesvd(const call& at, singular_vectors which, const matrix_stack& a, void* s,
                       void* u, void* vt, int* info) = 0;
  /// The same for matrices that satisfy fit_jacobi, in one launch: with all columns of u, and with
  /// v instead of vt.
  virtual status gesvdj(const call& at, bool vectors, const matrix_stack& a, void* s, void* u,
                        void* v, int* info) = 0;
  /// The eigenvalues in ascending order. Writes the vectors over a, of which only the upper
  /// triangle is read.
  virtual status syevd(const call& at, bool vectors, const matrix_stack& a, void* values,
                       int* info) = 0;

  /// Whether one launch for all matrices is faster than one for each.
  static bool better_batched(int64_t extent, int64_t count) { return count > 1 && extent <= 256; }
  /// Whether gesvdj can compute these matrices.
  static bool fit_jacobi(const matrix_stack& a) {
    return a.count > 1 && a.rows <= 32 && a.columns <= 32;
  }
};

} // namespace troupe::gpu
