#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/linalg/shared/solver.cuda.hpp"

namespace troupe::ops::qr_gpu {
namespace {

// The upper triangle of column-major matrices with m rows, row by row.
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
    TROUPE_ASSIGN(auto of, matrices_of(at.input(0)));
    auto m = of.rows, n = of.columns, least = std::min(m, n), p = at.state<bool>() ? m : least;
    TROUPE_ASSIGN(auto q_dims, with_matrix(at.input(0).dims(), {m, p}));
    TROUPE_ASSIGN(auto r_dims, with_matrix(at.input(0).dims(), {p, n}));
    TROUPE_ASSIGN(auto* q, at.allocate(0, q_dims));
    TROUPE_ASSIGN(auto* r, at.allocate(1, r_dims));
    if (of.count == 0 || least == 0)
      return gpu::fill_identity(at, q->template data<T>(), of.count, m, p);
    TROUPE_ASSIGN(auto* by, gpu::solver_of(at));
    TROUPE_ASSIGN(auto a, gpu::by_columns(at, at.input(0), of.count, m, n));
    TROUPE_ASSIGN(auto tau, gpu::room_for<T>(at, of.count * least));
    TROUPE_ASSIGN(auto info, gpu::room_for<int32_t>(at, of.count));
    auto* flaws = info.template data<int32_t>();
    TROUPE_TRY(by->geqrf(gpu::call_for<T>(at), {a.raw(), m, n, of.count}, tau.raw(), flaws));
    TROUPE_TRY(gpu::for_each(at, r->elements(),
                             take_r_body<T>{m, n, p, a.template data<T>(), r->template data<T>()}));
    // The reflectors move to where all columns of q have room.
    TROUPE_ASSIGN(auto columns, gpu::room_for<T>(at, of.count * m * p));
    strided_iterator places;
    places.push_back(of.count, {m * n, m * p});
    places.push_back(m * least, {1, 1});
    copy_between(at, places, {a}, {columns});
    TROUPE_TRY(
        by->orgqr(gpu::call_for<T>(at), {columns.raw(), m, p, of.count}, least, tau.raw(), flaws));
    gpu::by_rows(at, columns, of.count, m, p, p, *q);
    return {};
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(qr){
    .op = "Qr",
    .device = device_kind::gpu,
    .run = kernels_of<qr_on_gpu>(gpu::solved_types),
    .prepare = cache_attr<bool, "full_matrices">,
};

} // namespace troupe::ops::qr_gpu
