#include "troupe/ops/conv/shared/depthwise.cuda.hpp"

namespace troupe::ops::depthwise_conv2d_native_gpu {
namespace {

template <class T>
struct depthwise_body {
  gpu::windows on;
  int32_t multiple;
  const T *x, *filter;
  T* y;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto window = on.out.locate(i);
    auto channels = on.out.channels;
    compute_type<T> sum{};
    on.for_each_element(window.at, on.in.plane(window.image, window.channel / multiple),
                        [&](int32_t k, int64_t from) {
                          sum += gpu::load(x[from]) *
                                 gpu::load(filter[int64_t{k} * channels + window.channel]);
                        });
    y[i] = gpu::store<T>(sum);
  }
};

template <class T>
struct depthwise {
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto start, gpu::start_depthwise(at));
    if (start.done)
      return {};
    return gpu::for_each(at, start.out->elements(),
                         depthwise_body<T>{start.on, start.multiple, at.input(0).data<T>(),
                                           at.input(1).data<T>(), start.out->template data<T>()});
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(depthwise_conv2d_native){
    .op = "DepthwiseConv2dNative",
    .device = device_kind::gpu,
    .run = gpu::depthwise_kernels<depthwise>(types::floating),
    .prepare = gpu::prepare_depthwise<convolution_role::output>,
};

} // namespace troupe::ops::depthwise_conv2d_native_gpu
