#include "troupe/ops/linalg/shared/dense_algebra.hpp"
#include "troupe/ops/linalg/shared/matrices.cpu.hpp"

namespace troupe::ops::determinant_cpu {
namespace {

struct matrix_determinant_determinant {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto batch, square_matrices_of(at.input(0)));
    TROUPE_ASSIGN(auto dims, with_matrix(at.input(0).dims(), {}));
    TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
    const auto* from = at.input(0).data<T>();
    auto* to = out->template data<T>();
    return for_each_matrix(at, batch.count, 0.7 * cube(batch.rows), [&](int64_t i) -> status {
      to[i] = find_determinant<T>(from + i * batch.size(), batch.rows);
      return {};
    });
  }
};

struct log_matrix_determinant_determinant {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto batch, square_matrices_of(at.input(0)));
    TROUPE_ASSIGN(auto dims, with_matrix(at.input(0).dims(), {}));
    TROUPE_ASSIGN(auto* sign, at.allocate(0, dims));
    TROUPE_ASSIGN(auto* log, at.allocate(1, dims));
    const auto* from = at.input(0).data<T>();
    auto *signs = sign->template data<T>(), *logs = log->template data<T>();
    return for_each_matrix(at, batch.count, 0.7 * cube(batch.rows), [&](int64_t i) -> status {
      auto log_determinant = find_log_determinant<T>(from + i * batch.size(), batch.rows);
      signs[i] = log_determinant.sign;
      logs[i] = log_determinant.log;
      return {};
    });
  }
};

} // namespace

extern constexpr kernel_def matrix_determinant_cpu{
    .op = "MatrixDeterminant",
    .run = kernels_of<matrix_determinant_determinant>(types::fields),
};

extern constexpr kernel_def log_matrix_determinant_cpu{
    .op = "LogMatrixDeterminant",
    .run = kernels_of<log_matrix_determinant_determinant>(types::fields),
};

} // namespace troupe::ops::determinant_cpu
