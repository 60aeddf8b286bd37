#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/linalg/shared/solver.cuda.hpp"

namespace troupe::ops::matrix_inverse_gpu {
namespace {

struct inversion_on_gpu {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto of, square_matrices_of(at.input(0)));
    TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(0).dims()));
    if (out->elements() == 0)
      return {};
    TROUPE_ASSIGN(auto lu, gpu::factor<T>(at, at.input(0), of));
    TROUPE_TRY(gpu::refuse_singular<T>(at, lu));
    auto* x = out->template data<T>();
    TROUPE_TRY(gpu::fill_identity(at, x, of.count, of.rows, of.columns));
    // What is found column by column is to be read row by row: the inverse of the transpose.
    return gpu::solve_in_place(at, lu, !at.state<bool>(), x, of.columns);
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(matrix_inverse){
    .op = "MatrixInverse",
    .device = device_kind::gpu,
    .run = kernels_of<inversion_on_gpu>(gpu::solved_types),
    .prepare = cache_attr<bool, "adjoint">,
};

} // namespace troupe::ops::matrix_inverse_gpu
