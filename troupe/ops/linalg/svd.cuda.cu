#include "troupe/ops/linalg/shared/solver.cuda.hpp"
#include "troupe/ops/linalg/svd.hpp"

namespace troupe::ops::svd_gpu {
namespace {

struct svd_on_gpu {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto out, allocate_svd(at));
    const auto& of = out.of;
    if (of.count == 0)
      return {};
    if (out.values > 0)
      return gpu::find_singular_values(at, at.input(0), of, at.state<wanted_vectors>().full,
                                       out.s->template data<T>(), out.u, out.v);
    if (!out.u)
      return {};
    TROUPE_TRY(gpu::fill_identity(at, out.u->template data<T>(), of.count, of.rows, out.left));
    return gpu::fill_identity(at, out.v->template data<T>(), of.count, of.columns, out.right);
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(svd){
    .op = "Svd",
    .device = device_kind::gpu,
    .run = kernels_of<svd_on_gpu>(gpu::solved_types),
    .prepare = prepare_svd,
};

} // namespace troupe::ops::svd_gpu
