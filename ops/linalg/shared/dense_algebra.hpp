// Linear algebra of single matrices, which kernels apply to each matrix of a batch.
//
// All matrices are row-major and dense; T is float, double, or complex of float or double. Floats
// are computed as doubles, which halves the code to compile and keeps results precise to the last
// digits. Each function runs on the calling thread alone, and throws std::bad_alloc.
#pragma once
#include <cstdint>

namespace troupe::ops {

/// x (n x columns) = a^-1 b for a square matrix, or with its adjoint; without b, x is the inverse.
/// Returns whether the inverse exists.
template <class T>
bool solve(const T* a, int64_t n, bool adjoint, const T* b, T* x, int64_t columns);

/// The determinant is sign * exp(log). A singular matrix has the sign 0.
template <class T>
struct log_determinant {
  T sign, log;
};
template <class T>
log_determinant<T> find_log_determinant(const T* a, int64_t n);
template <class T>
T find_determinant(const T* a, int64_t n);

/// The lower triangular l with l l' = a, reading only the lower triangle of a. Returns whether a is
/// positive definite; otherwise l is undefined.
template <class T>
bool factorize(const T* a, int64_t n, T* l);

/// x (n x columns) = a^-1 b for a triangular matrix, or with its adjoint, reading only that
/// triangle. A 0 on the diagonal gives the result of a division by 0.
template <class T>
void solve_triangular(const T* a, int64_t n, bool lower, bool adjoint, const T* b, T* x,
                      int64_t columns);

/// The least-squares solution x (n x columns) of a x = b for a (m x n) of full rank: (a' a + l2)^-1
/// a' b, or a' (a a' + l2)^-1 b where there are fewer rows than columns. Returns whether the
/// inverted matrix is positive definite.
template <class T>
bool solve_normal_equations(const T* a, int64_t m, int64_t n, double l2, const T* b, T* x,
                            int64_t columns);
/// The shortest least-squares solution, for any a.
template <class T>
void solve_least_squares(const T* a, int64_t m, int64_t n, const T* b, T* x, int64_t columns);

/// a (m x n) = q (m x p) r (p x n) with orthonormal columns in q; p is m, or the lesser extent.
template <class T>
void factorize_qr(const T* a, int64_t m, int64_t n, int64_t p, T* q, T* r);

/// The n eigenvalues of a self-adjoint matrix in ascending order, and its eigenvectors as columns
/// of v unless that is null, reading only the lower triangle of a. Returns whether the iteration
/// converged.
template <class T>
bool find_eigenvalues(const T* a, int64_t n, T* values, T* v);

/// a (m x n) = u diag(s) v' with min(m, n) singular values. Where u is null, only s is computed;
/// otherwise u and v have as many columns as there are values, or all columns if `full`. A matrix
/// that is not finite gives NaN.
template <class T>
void decompose(const T* a, int64_t m, int64_t n, bool full, T* s, T* u, T* v);

} // namespace troupe::ops
