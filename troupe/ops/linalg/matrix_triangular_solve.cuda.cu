#include "troupe/ops/linalg/shared/solver.cuda.hpp"
#include "troupe/ops/linalg/shared/triangular.hpp"
#include "troupe/ops/matmul/shared/matrix_product.hpp"

namespace troupe::ops::matrix_triangular_solve_gpu {
namespace {

// An operand's matrices, as many as there are solutions.
void write_out(kernel_context& at, const strided_iterator& batches, int operand, int64_t size,
               const tensor& from, const tensor& to) {
  strided_iterator places;
  for (int axis = 0; axis < batches.rank(); ++axis)
    places.push_back(batches.extent(axis), {batches.stride(axis, operand), 0});
  places.push_back(size, {1, 0});
  copy_strided(at, places, {from}, to);
}

struct triangular_solution_on_gpu {
  template <class T>
  static status run(kernel_context& at) {
    const auto &matrix = at.input(0), &rhs = at.input(1);
    TROUPE_ASSIGN(auto of, square_matrices_of(matrix));
    TROUPE_ASSIGN(auto right, matrices_of(rhs));
    TROUPE_ASSIGN(auto plan, plan_product(matrix.dims(), {}, rhs.dims(), {}));
    TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
    if (out->elements() == 0)
      return {};
    const auto& batches = plan.what.batches;
    auto count = batches.elements();
    write_out(at, batches, 1, right.size(), rhs, *out);
    auto all = matrix;
    if (count != of.count) {
      TROUPE_ASSIGN(all, gpu::room_for<T>(at, count * of.size()));
      write_out(at, batches, 0, of.size(), matrix, all);
    }
    auto batched = troupe::gpu::solver::better_batched(of.rows, count);
    TROUPE_ASSIGN(auto a, gpu::locate<T>(at, all.raw(), of.rows, of.rows, count, batched));
    TROUPE_ASSIGN(auto x, gpu::locate<T>(at, out->raw(), right.columns, of.rows, count, batched));
    TROUPE_ASSIGN(auto* by, gpu::solver_of(at));
    // As they lie, all are transposed: x' = b' (a')^-1, and a' is upper where a is lower.
    auto [lower, adjoint] = at.state<triangle>();
    return by->trsm(gpu::call_for<T>(at), lower, adjoint, a.of, x.of);
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(matrix_triangular_solve){
    .op = "MatrixTriangularSolve",
    .device = device_kind::gpu,
    .run = kernels_of<triangular_solution_on_gpu>(gpu::solved_types),
    .prepare = prepare_triangle,
};

} // namespace troupe::ops::matrix_triangular_solve_gpu
