#include "troupe/ops/linalg/shared/dense_algebra.hpp"
#include "troupe/ops/linalg/shared/matrices.cpu.hpp"

namespace troupe::ops::matrix_determinant_cpu {
namespace {

struct determinant {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto of, square_matrices_of(at.input(0)));
    TROUPE_ASSIGN(auto dims, with_matrix(at.input(0).dims(), {}));
    TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
    const auto* from = at.input(0).data<T>();
    auto* to = out->template data<T>();
    return for_each_matrix(at, of.count, 0.7 * cube(of.rows), [&](int64_t i) -> status {
      to[i] = find_determinant<T>(from + i * of.size(), of.rows);
      return {};
    });
  }
};

} // namespace

extern constexpr kernel_def matrix_determinant_cpu{
    .op = "MatrixDeterminant",
    .run = kernels_of<determinant>(types::fields),
};

} // namespace troupe::ops::matrix_determinant_cpu
