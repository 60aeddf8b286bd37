#include "troupe/ops/conv/shared/depthwise.cuda.hpp"

namespace troupe::ops::depthwise_conv2d_native_backprop_input_gpu {
namespace {

template <class T>
struct depthwise_input_body {
  gpu::windows on;
  int32_t multiple;
  const T *filter, *dy;
  T* dx;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto here = on.in.locate(i);
    auto channels = on.out.channels;
    compute_type<T> sum{};
    for (auto channel = here.channel * multiple; channel < (here.channel + 1) * multiple; ++channel)
      on.for_each_window(here.at, on.out.plane(here.image, channel),
                         [&](int32_t k, int64_t from, const int32_t(&)[3]) {
                           sum += gpu::load(dy[from]) *
                                  gpu::load(filter[int64_t{k} * channels + channel]);
                         });
    dx[i] = gpu::store<T>(sum);
  }
};

template <class T>
struct depthwise_input {
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto start, gpu::start_depthwise(at));
    if (start.done)
      return {};
    return gpu::for_each(at, start.out->elements(),
                         depthwise_input_body<T>{start.on, start.multiple, at.input(1).data<T>(),
                                                 at.input(2).data<T>(),
                                                 start.out->template data<T>()});
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(depthwise_conv2d_native_backprop_input){
    .op = "DepthwiseConv2dNativeBackpropInput",
    .device = device_kind::gpu,
    .run = gpu::depthwise_kernels<depthwise_input>(types::floating),
    .prepare = gpu::prepare_depthwise<convolution_role::input>,
};

} // namespace troupe::ops::depthwise_conv2d_native_backprop_input_gpu
