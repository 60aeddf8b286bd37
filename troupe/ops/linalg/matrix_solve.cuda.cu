#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/linalg/shared/solver.cuda.hpp"

namespace troupe::ops::matrix_solve_gpu {
namespace {

struct solution_on_gpu {
  template <class T>
  static status run(kernel_context& at) {
    const auto &matrix = at.input(0), &rhs = at.input(1);
    TROUPE_ASSIGN(auto of, square_matrices_of(matrix));
    TROUPE_ASSIGN(auto right, right_sides_of(matrix, rhs));
    TROUPE_ASSIGN(auto* out, at.allocate(0, rhs.dims()));
    if (out->elements() == 0)
      return {};
    TROUPE_ASSIGN(auto lu, gpu::factor<T>(at, matrix, of));
    TROUPE_TRY(gpu::refuse_singular<T>(at, lu));
    if (right.columns == 1) {
      copy_bytes(at, rhs, *out);
      return gpu::solve_in_place(at, lu, at.state<bool>(), out->template data<T>(), 1);
    }
    TROUPE_ASSIGN(auto x, gpu::by_columns(at, rhs, of.count, of.rows, right.columns));
    TROUPE_TRY(gpu::solve_in_place(at, lu, at.state<bool>(), x.template data<T>(), right.columns));
    gpu::by_rows(at, x, of.count, of.rows, right.columns, right.columns, *out);
    return {};
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(matrix_solve){
    .op = "MatrixSolve",
    .device = device_kind::gpu,
    .run = kernels_of<solution_on_gpu>(gpu::solved_types),
    .prepare = cache_attr<bool, "adjoint">,
};

} // namespace troupe::ops::matrix_solve_gpu
