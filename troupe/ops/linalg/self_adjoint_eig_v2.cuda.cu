#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/linalg/shared/solver.cuda.hpp"

namespace troupe::ops::self_adjoint_eig_v2_gpu {
namespace {

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
    TROUPE_ASSIGN(auto of, square_matrices_of(at.input(0)));
    auto vectors = at.state<bool>();
    TROUPE_ASSIGN(auto e_dims, with_matrix(dims, {of.rows}));
    TROUPE_ASSIGN(auto* e, at.allocate(0, e_dims));
    TROUPE_ASSIGN(auto* v, at.allocate(1, vectors ? dims : shape{0}));
    if (e->elements() == 0)
      return {};
    TROUPE_ASSIGN(auto* by, gpu::solver_of(at));
    TROUPE_ASSIGN(auto a, gpu::room_for<T>(at, of.count * of.size()));
    TROUPE_ASSIGN(auto finite, gpu::room_for<int32_t>(at, of.count));
    TROUPE_ASSIGN(auto info, gpu::room_for<int32_t>(at, of.count));
    copy_bytes(at, at.input(0), a);
    auto *is_finite = finite.template data<int32_t>(), *flaws = info.template data<int32_t>();
    TROUPE_TRY(gpu::tame(at, a.template data<T>(), of.count, of.rows, of.columns, true, is_finite));
    // The lower triangle is the upper one of what the library sees.
    TROUPE_TRY(by->syevd(gpu::call_for<T>(at), vectors, {a.raw(), of.rows, of.columns, of.count},
                         e->raw(), flaws));
    TROUPE_TRY(gpu::for_each(
        at, of.count,
        refuse_eigen_body{
            is_finite, flaws, {at, "matrix # has no eigenvalues that can be found"}}));
    if (vectors)
      gpu::by_rows(at, a, of.count, of.rows, of.columns, of.columns, *v);
    return {};
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(self_adjoint_eig_v2){
    .op = "SelfAdjointEigV2",
    .device = device_kind::gpu,
    .run = kernels_of<eigen_on_gpu>(gpu::solved_types),
    .prepare = cache_attr<bool, "compute_v">,
};

} // namespace troupe::ops::self_adjoint_eig_v2_gpu
