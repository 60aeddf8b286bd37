#include "troupe/ops/linalg/shared/solver.cuda.hpp"

namespace troupe::ops::cholesky_gpu {
namespace {

// Row by row, u' lies where u lies column by column.
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
    TROUPE_ASSIGN(auto of, square_matrices_of(at.input(0)));
    TROUPE_ASSIGN(auto* out, output_from_input(at, 0));
    if (out->elements() == 0)
      return {};
    TROUPE_ASSIGN(auto* by, gpu::solver_of(at));
    TROUPE_ASSIGN(auto info, gpu::room_for<int32_t>(at, of.count));
    auto batched = troupe::gpu::solver::better_batched(of.rows, of.count);
    TROUPE_ASSIGN(auto a, gpu::locate<T>(at, out->raw(), of.rows, of.columns, of.count, batched));
    auto* flaws = info.template data<int32_t>();
    TROUPE_TRY(by->potrf(gpu::call_for<T>(at), a.of, flaws));
    return gpu::for_each(at, out->elements(),
                         finish_cholesky_body<T>{of.rows, flaws, out->template data<T>()});
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(cholesky){
    .op = "Cholesky",
    .device = device_kind::gpu,
    .run = kernels_of<cholesky_on_gpu>(gpu::solved_types),
};

} // namespace troupe::ops::cholesky_gpu
