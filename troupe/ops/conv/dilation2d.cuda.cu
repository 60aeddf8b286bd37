#include "troupe/ops/conv/shared/dilation.cuda.hpp"

namespace troupe::ops::dilation2d_gpu {
namespace {

template <class T>
struct dilate_body {
  gpu::windows on;
  const T *x, *filter;
  T* y;
  TROUPE_DEVICE void operator()(int64_t i) const {
    y[i] = gpu::store<T>(gpu::largest_of_sums<T>{on, x, filter, on.out.locate(i)}.sum);
  }
};

template <class T>
struct dilate_on_gpu {
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto of, make_dilation(at));
    TROUPE_ASSIGN(auto* out, at.allocate(0, of.output));
    if (out->elements() == 0)
      return {};
    TROUPE_ASSIGN(auto on, gpu::windows_of(of));
    return gpu::for_each(
        at, out->elements(),
        dilate_body<T>{on, at.input(0).data<T>(), at.input(1).data<T>(), out->template data<T>()});
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(dilation2d){
    .op = "Dilation2D",
    .device = device_kind::gpu,
    .run = gpu::dilation_kernels<dilate_on_gpu>(types::floating),
    .prepare = prepare_dilation,
};

} // namespace troupe::ops::dilation2d_gpu
