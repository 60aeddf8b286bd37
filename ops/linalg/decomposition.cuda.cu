#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/linalg/shared/solver.cuda.hpp"
#include "troupe/ops/linalg/shared/svd.hpp"

namespace troupe::ops::decomposition_gpu {
namespace {

// u' in row-major order is u in column-major order.
template <class T>
struct finish_cholesky_body {
  int64_t n;
  const int* info;
  T* l;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto place = i % (n * n);
    if (place % n > place / n)
      l[i] = 0;
    else if (info[i / (n * n)] != 0)
      l[i] = std::numeric_limits<T>::quiet_NaN();
  }
};

struct cholesky_on_gpu {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto batch, square_matrices_of(at.input(0)));
    TROUPE_ASSIGN(auto* out, output_from_input(at, 0));
    if (out->elements() == 0)
      return {};
    TROUPE_ASSIGN(auto* solver, gpu::solver_of(at));
    TROUPE_ASSIGN(auto info, gpu::room_for<int32_t>(at, batch.count));
    auto batched = troupe::gpu::solver::better_batched(batch.rows, batch.count);
    TROUPE_ASSIGN(auto a,
                  gpu::locate<T>(at, out->raw(), batch.rows, batch.columns, batch.count, batched));
    auto* flaws = info.template data<int32_t>();
    TROUPE_TRY(solver->potrf(gpu::call_for<T>(at), a.of, flaws));
    return gpu::for_each(at, out->elements(),
                         finish_cholesky_body<T>{batch.rows, flaws, out->template data<T>()});
  }
};

// The upper triangle of column-major matrices with m rows, in row-major order.
template <class T>
struct take_r_body {
  int64_t m, n, p;
  const T* from;
  T* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto matrix = i / (p * n), row = i / n % p, column = i % n;
    to[i] = row <= column ? from[matrix * m * n + column * m + row] : T(0);
  }
};

struct qr_on_gpu {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto batch, matrices_of(at.input(0)));
    auto m = batch.rows, n = batch.columns, least = std::min(m, n),
         p = at.state<bool>() ? m : least;
    TROUPE_ASSIGN(auto q_dims, with_matrix(at.input(0).dims(), {m, p}));
    TROUPE_ASSIGN(auto r_dims, with_matrix(at.input(0).dims(), {p, n}));
    TROUPE_ASSIGN(auto* q, at.allocate(0, q_dims));
    TROUPE_ASSIGN(auto* r, at.allocate(1, r_dims));
    if (batch.count == 0 || least == 0)
      return gpu::fill_identity(at, q->template data<T>(), batch.count, m, p);
    TROUPE_ASSIGN(auto* solver, gpu::solver_of(at));
    TROUPE_ASSIGN(auto a, gpu::by_columns(at, at.input(0), batch.count, m, n));
    TROUPE_ASSIGN(auto tau, gpu::room_for<T>(at, batch.count * least));
    TROUPE_ASSIGN(auto info, gpu::room_for<int32_t>(at, batch.count));
    auto* flaws = info.template data<int32_t>();
    TROUPE_TRY(solver->geqrf(gpu::call_for<T>(at), {a.raw(), m, n, batch.count}, tau.raw(), flaws));
    TROUPE_TRY(gpu::for_each(at, r->elements(),
                             take_r_body<T>{m, n, p, a.template data<T>(), r->template data<T>()}));
    // The reflectors move to memory with room for all columns of q.
    TROUPE_ASSIGN(auto columns, gpu::room_for<T>(at, batch.count * m * p));
    strided_iterator places;
    places.push_back(batch.count, {m * n, m * p});
    places.push_back(m * least, {1, 1});
    copy_between(at, places, {a}, {columns});
    TROUPE_TRY(solver->orgqr(gpu::call_for<T>(at), {columns.raw(), m, p, batch.count}, least,
                             tau.raw(), flaws));
    gpu::by_rows(at, columns, batch.count, m, p, p, *q);
    return {};
  }
};

struct refuse_eigen_body {
  const int *finite, *info;
  gpu::device_errors wrong;
  TROUPE_DEVICE void operator()(int64_t i) const {
    if (finite[i] == 0 || info[i] != 0)
      wrong.add(i, -1);
  }
};

struct eigen_on_gpu {
  template <class T>
  static status run(kernel_context& at) {
    const auto& dims = at.input(0).dims();
    TROUPE_ASSIGN(auto batch, square_matrices_of(at.input(0)));
    auto vectors = at.state<bool>();
    TROUPE_ASSIGN(auto e_dims, with_matrix(dims, {batch.rows}));
    TROUPE_ASSIGN(auto* e, at.allocate(0, e_dims));
    TROUPE_ASSIGN(auto* v, at.allocate(1, vectors ? dims : shape{0}));
    if (e->elements() == 0)
      return {};
    TROUPE_ASSIGN(auto* solver, gpu::solver_of(at));
    TROUPE_ASSIGN(auto a, gpu::room_for<T>(at, batch.count * batch.size()));
    TROUPE_ASSIGN(auto finite, gpu::room_for<int32_t>(at, batch.count));
    TROUPE_ASSIGN(auto info, gpu::room_for<int32_t>(at, batch.count));
    copy_bytes(at, at.input(0), a);
    auto *is_finite = finite.template data<int32_t>(), *flaws = info.template data<int32_t>();
    TROUPE_TRY(gpu::tame(at, a.template data<T>(), batch.count, batch.rows, batch.columns, true,
                         is_finite));
    // The lower triangle is the upper triangle of the library's column-major view.
    TROUPE_TRY(solver->syevd(gpu::call_for<T>(at), vectors,
                             {a.raw(), batch.rows, batch.columns, batch.count}, e->raw(), flaws));
    TROUPE_TRY(gpu::for_each(
        at, batch.count,
        refuse_eigen_body{
            is_finite, flaws, {at, "matrix # has no eigenvalues that can be found"}}));
    if (vectors)
      gpu::by_rows(at, a, batch.count, batch.rows, batch.columns, batch.columns, *v);
    return {};
  }
};

struct svd_on_gpu {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto out, allocate_svd(at));
    const auto& batch = out.of;
    if (batch.count == 0)
      return {};
    if (out.values > 0)
      return gpu::find_singular_values(at, at.input(0), batch, at.state<wanted_vectors>().full,
                                       out.s->template data<T>(), out.u, out.v);
    if (!out.u)
      return {};
    TROUPE_TRY(
        gpu::fill_identity(at, out.u->template data<T>(), batch.count, batch.rows, out.left));
    return gpu::fill_identity(at, out.v->template data<T>(), batch.count, batch.columns, out.right);
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(cholesky){
    .op = "Cholesky",
    .device = device_kind::gpu,
    .run = kernels_of<cholesky_on_gpu>(gpu::solved_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(qr){
    .op = "Qr",
    .device = device_kind::gpu,
    .run = kernels_of<qr_on_gpu>(gpu::solved_types),
    .prepare = cache_attr<bool, "full_matrices">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(self_adjoint_eig_v2){
    .op = "SelfAdjointEigV2",
    .device = device_kind::gpu,
    .run = kernels_of<eigen_on_gpu>(gpu::solved_types),
    .prepare = cache_attr<bool, "compute_v">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(svd){
    .op = "Svd",
    .device = device_kind::gpu,
    .run = kernels_of<svd_on_gpu>(gpu::solved_types),
    .prepare = prepare_svd,
};

} // namespace troupe::ops::decomposition_gpu
