#include "troupe/ops/conv/shared/dilation.cuda.hpp"

namespace troupe::ops::dilation2d_backprop_input_gpu {
namespace {

template <class T>
struct dilation_input_body {
  gpu::windows on;
  const int32_t* chosen;
  const T* dy;
  T* dx;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto here = on.in.locate(i);
    compute_type<T> sum{};
    on.for_each_window(here.at, on.out.plane(here.image, here.channel),
                       [&](int32_t k, int64_t window, const int32_t(&)[3]) {
                         if (chosen[window] == k)
                           sum += gpu::load(dy[window]);
                       });
    dx[i] = gpu::store<T>(sum);
  }
};

template <class T>
struct dilation_input {
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto of, make_dilation(at));
    TROUPE_TRY(expect_output(of, at.input(2).dims()));
    TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(0).dims()));
    if (out->elements() == 0)
      return {};
    TROUPE_ASSIGN(auto on, gpu::windows_of(of));
    TROUPE_ASSIGN(auto chosen, gpu::launch_find_sums<T>(at, of, on));
    return gpu::for_each(at, out->elements(),
                         dilation_input_body<T>{on, chosen.template data<int32_t>(),
                                                at.input(2).data<T>(), out->template data<T>()});
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(dilation2d_backprop_input){
    .op = "Dilation2DBackpropInput",
    .device = device_kind::gpu,
    .run = gpu::dilation_kernels<dilation_input>(types::floating),
    .prepare = prepare_dilation,
};

} // namespace troupe::ops::dilation2d_backprop_input_gpu
