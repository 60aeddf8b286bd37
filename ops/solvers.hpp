// Solving systems of linear equations: what several kernels do with each matrix of a batch.
//
// All matrices are row-major and dense; T is float, double, or complex of one of them. Each
// function runs on the calling thread alone.
#pragma once
#include <cstdint>

namespace troupe::ops {

/// x (n x columns) = a^-1 b for a square matrix, or with its adjoint; without b, that is the
/// inverse. Says whether there is one.
template <class T>
bool solve(const T* a, int64_t n, bool adjoint, const T* b, T* x, int64_t columns);

/// The determinant is sign * exp(log). That of a singular matrix has the sign 0.
template <class T>
struct log_determinant {
  T sign, log;
};
template <class T>
log_determinant<T> find_log_determinant(const T* a, int64_t n);
template <class T>
T find_determinant(const T* a, int64_t n);

/// The lower triangular l with l l' = a, reading only the lower triangle of a. Says whether a is
/// positive definite.
template <class T>
bool factorize(const T* a, int64_t n, T* l);

/// Replaces x (n x columns) by a^-1 x for a triangular matrix, or with its adjoint, reading only
/// that triangle. A 0 on the diagonal gives what dividing by it gives.
template <class T>
void solve_triangular(const T* a, int64_t n, bool lower, bool adjoint, T* x, int64_t columns);

} // namespace troupe::ops
