#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/linalg/shared/least_squares.hpp"
#include "troupe/ops/linalg/shared/solver.cuda.hpp"
#include "troupe/ops/linalg/shared/triangular.hpp"
#include "troupe/ops/matmul/shared/matrix_product.hpp"
#include "troupe/ops/matmul/shared/product.cuda.hpp"

namespace troupe::ops::matrix_solve_gpu {
namespace {

struct inversion_on_gpu {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto batch, square_matrices_of(at.input(0)));
    TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(0).dims()));
    if (out->elements() == 0)
      return {};
    TROUPE_ASSIGN(auto lu, gpu::factor<T>(at, at.input(0), batch));
    TROUPE_TRY(gpu::refuse_singular<T>(at, lu));
    auto* x = out->template data<T>();
    TROUPE_TRY(gpu::fill_identity(at, x, batch.count, batch.rows, batch.columns));
    // The solver's result is column-major, and the output is row-major: it inverts the transpose.
    return gpu::solve_in_place(at, lu, !at.state<bool>(), x, batch.columns);
  }
};

struct solution_on_gpu {
  template <class T>
  static status run(kernel_context& at) {
    const auto &matrix = at.input(0), &rhs = at.input(1);
    TROUPE_ASSIGN(auto batch, square_matrices_of(matrix));
    TROUPE_ASSIGN(auto right, right_sides_of(matrix, rhs));
    TROUPE_ASSIGN(auto* out, at.allocate(0, rhs.dims()));
    if (out->elements() == 0)
      return {};
    TROUPE_ASSIGN(auto lu, gpu::factor<T>(at, matrix, batch));
    TROUPE_TRY(gpu::refuse_singular<T>(at, lu));
    if (right.columns == 1) {
      copy_bytes(at, rhs, *out);
      return gpu::solve_in_place(at, lu, at.state<bool>(), out->template data<T>(), 1);
    }
    TROUPE_ASSIGN(auto x, gpu::by_columns(at, rhs, batch.count, batch.rows, right.columns));
    TROUPE_TRY(gpu::solve_in_place(at, lu, at.state<bool>(), x.template data<T>(), right.columns));
    gpu::by_rows(at, x, batch.count, batch.rows, right.columns, right.columns, *out);
    return {};
  }
};

// Squaring a matrix squares its condition number, so floats are computed as doubles.
template <class T, class Wide>
struct convert_body {
  const T* from;
  Wide* to;
  TROUPE_DEVICE void operator()(int64_t i) const { to[i] = static_cast<Wide>(from[i]); }
};

struct regularize_body {
  int64_t n;
  double l2;
  double* gramian;
  TROUPE_DEVICE void operator()(int64_t i) const { gramian[i / n * n * n + i % n * (n + 1)] += l2; }
};

// Divides by singular values; values below the precision of the matrix's type count as 0.
struct divide_body {
  int64_t values, columns;
  double epsilon;
  const double* s;
  double* x;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto matrix = i / (values * columns), row = i / columns % values;
    auto value = s[matrix * values + row], least = s[matrix * values] * epsilon;
    x[i] *= value > least ? 1 / value : 0.0;
  }
};

struct least_squares_on_gpu {
  kernel_context& at;
  matrix_batch of;
  int64_t columns; // of the right sides

  result<tensor> room(int64_t elements) const { return gpu::room_for<double>(at, elements); }

  template <class T>
  result<tensor> wide(const tensor& from) const {
    if constexpr (std::is_same_v<T, double>)
      return from;
    TROUPE_ASSIGN(auto buffer, room(from.elements()));
    TROUPE_TRY(gpu::for_each(at, from.elements(),
                             convert_body<T, double>{from.data<T>(), buffer.data<double>()}));
    return buffer;
  }

  // c = op(a) b, for each matrix.
  status multiply(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                  const tensor& a, const tensor& b, const tensor& c) const {
    return gpu::multiply(at,
                         {.type = dtype::f64,
                          .transpose_a = transpose_a,
                          .transpose_b = transpose_b,
                          .m = m,
                          .n = n,
                          .k = k,
                          .batches = of.count,
                          .stride_a = m * k,
                          .stride_b = k * n,
                          .stride_c = m * n},
                         a.data<double>(), b.data<double>(), c.data<double>());
  }

  // x = (a' a + l2)^-1 a' b, or a' (a a' + l2)^-1 b where there are fewer rows than columns.
  status by_normal_equations(double l2, const tensor& a, const tensor& b, const tensor& x) const {
    TROUPE_ASSIGN(auto* solver, gpu::solver_of(at));
    auto tall = of.rows >= of.columns;
    auto n = std::min(of.rows, of.columns), m = std::max(of.rows, of.columns);
    TROUPE_ASSIGN(auto gramian, room(of.count * n * n));
    TROUPE_TRY(multiply(tall, !tall, n, n, m, a, a, gramian));
    TROUPE_TRY(gpu::for_each(at, of.count * n, regularize_body{n, l2, gramian.data<double>()}));
    auto right = x;
    if (tall) {
      TROUPE_TRY(multiply(true, false, n, columns, m, a, b, right));
    } else {
      TROUPE_ASSIGN(right, room(of.count * n * columns));
      copy_bytes(at, b, right);
    }
    TROUPE_ASSIGN(auto info, gpu::room_for<int32_t>(at, of.count));
    auto batched = troupe::gpu::solver::better_batched(n, of.count);
    TROUPE_ASSIGN(auto u, gpu::locate<double>(at, gramian.raw(), n, n, of.count, batched));
    TROUPE_ASSIGN(auto y, gpu::locate<double>(at, right.raw(), columns, n, of.count, batched));
    auto call = gpu::call_for<double>(at);
    TROUPE_TRY(solver->potrf(call, u.of, info.data<int32_t>()));
    TROUPE_TRY(gpu::for_each(
        at, of.count, gpu::flawed_body{info.data<int32_t>(), {at, "matrix #" TROUPE_LACKS_RANK}}));
    // In the library's view, right is transposed: y' u' u = right'.
    TROUPE_TRY(solver->trsm(call, true, false, u.of, y.of));
    TROUPE_TRY(solver->trsm(call, true, true, u.of, y.of));
    return tall ? status{} : multiply(true, false, m, columns, n, a, right, x);
  }

  // x = v diag(1 / s) u' b, the shortest solution.
  status by_singular_values(double epsilon, const tensor& a, const tensor& b,
                            const tensor& x) const {
    auto p = std::min(of.rows, of.columns);
    TROUPE_ASSIGN(auto s, room(of.count * p));
    TROUPE_ASSIGN(auto u, room(of.count * of.rows * p));
    TROUPE_ASSIGN(auto v, room(of.count * of.columns * p));
    TROUPE_TRY(gpu::find_singular_values(at, a, of, false, s.data<double>(), &u, &v));
    TROUPE_ASSIGN(auto y, room(of.count * p * columns));
    TROUPE_TRY(multiply(true, false, p, columns, of.rows, u, b, y));
    auto scale = epsilon * static_cast<double>(std::max(of.rows, of.columns));
    TROUPE_TRY(gpu::for_each(at, of.count * p * columns,
                             divide_body{p, columns, scale, s.data<double>(), y.data<double>()}));
    return multiply(false, false, of.columns, columns, p, v, y, x);
  }

  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto plan, plan_least_squares(at));
    TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
    if (plan.of.rows == 0 || out->elements() == 0) {
      fill_zeros(at, *out);
      return {};
    }
    least_squares_on_gpu solver{at, plan.of, plan.right.columns};
    TROUPE_ASSIGN(auto a, solver.wide<T>(at.input(0)));
    TROUPE_ASSIGN(auto b, solver.wide<T>(at.input(1)));
    auto x = *out;
    if constexpr (!std::is_same_v<T, double>) {
      TROUPE_ASSIGN(x, solver.room(out->elements()));
    }
    if (at.state<bool>())
      TROUPE_TRY(solver.by_normal_equations(*at.input(2).data<double>(), a, b, x));
    else
      TROUPE_TRY(solver.by_singular_values(static_cast<double>(std::numeric_limits<T>::epsilon()),
                                           a, b, x));
    if constexpr (std::is_same_v<T, double>)
      return {};
    else
      return gpu::for_each(
          at, out->elements(),
          convert_body<double, T>{x.template data<double>(), out->template data<T>()});
  }
};

// An operand's matrices, one per solution.
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
    TROUPE_ASSIGN(auto batch, square_matrices_of(matrix));
    TROUPE_ASSIGN(auto right, matrices_of(rhs));
    TROUPE_ASSIGN(auto plan, plan_product(matrix.dims(), {}, rhs.dims(), {}));
    TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
    if (out->elements() == 0)
      return {};
    const auto& batches = plan.what.batches;
    auto count = batches.elements();
    write_out(at, batches, 1, right.size(), rhs, *out);
    auto matrices = matrix;
    if (count != batch.count) {
      TROUPE_ASSIGN(matrices, gpu::room_for<T>(at, count * batch.size()));
      write_out(at, batches, 0, batch.size(), matrix, matrices);
    }
    auto batched = troupe::gpu::solver::better_batched(batch.rows, count);
    TROUPE_ASSIGN(auto a,
                  gpu::locate<T>(at, matrices.raw(), batch.rows, batch.rows, count, batched));
    TROUPE_ASSIGN(auto x,
                  gpu::locate<T>(at, out->raw(), right.columns, batch.rows, count, batched));
    TROUPE_ASSIGN(auto* solver, gpu::solver_of(at));
    // In the library's view, all matrices are transposed: x' = b' (a')^-1, and a' is upper where a
    // is lower.
    auto [lower, adjoint] = at.state<triangle>();
    return solver->trsm(gpu::call_for<T>(at), lower, adjoint, a.of, x.of);
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(matrix_inverse){
    .op = "MatrixInverse",
    .device = device_kind::gpu,
    .run = kernels_of<inversion_on_gpu>(gpu::solved_types),
    .prepare = cache_attr<bool, "adjoint">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(matrix_solve){
    .op = "MatrixSolve",
    .device = device_kind::gpu,
    .run = kernels_of<solution_on_gpu>(gpu::solved_types),
    .prepare = cache_attr<bool, "adjoint">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(matrix_solve_ls){
    .op = "MatrixSolveLs",
    .device = device_kind::gpu,
    .run = kernels_of<least_squares_on_gpu>(gpu::solved_types),
    .prepare = cache_attr<bool, "fast">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(matrix_triangular_solve){
    .op = "MatrixTriangularSolve",
    .device = device_kind::gpu,
    .run = kernels_of<triangular_solution_on_gpu>(gpu::solved_types),
    .prepare = prepare_triangle,
};

} // namespace troupe::ops::matrix_solve_gpu
