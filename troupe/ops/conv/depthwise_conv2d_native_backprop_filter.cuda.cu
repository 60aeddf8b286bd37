#include "troupe/ops/conv/shared/depthwise.cuda.hpp"

namespace troupe::ops::depthwise_conv2d_native_backprop_filter_gpu {
namespace {

// What a window adds to an element of the filter.
template <class T>
struct depthwise_filter_source {
  gpu::windows on;
  int32_t multiple;
  int64_t pixels; // of an output
  const T *x, *dy;
  TROUPE_DEVICE compute_type<T> operator()(int64_t output, int64_t item) const {
    auto channel = static_cast<int32_t>(output % on.out.channels);
    auto k = static_cast<int32_t>(output / on.out.channels);
    auto image =
        on.out.narrow ? static_cast<uint32_t>(item) / static_cast<uint32_t>(pixels) : item / pixels;
    auto pixel = item - image * pixels;
    int32_t window[3], rest = static_cast<int32_t>(pixel);
    for (int i = 2; i >= 0; --i) {
      window[i] = rest % on.axes[i].out;
      rest /= on.axes[i].out;
    }
    auto part = k;
    for (int i = 2; i >= 0; --i) {
      auto element = part % on.axes[i].size;
      part /= on.axes[i].size;
      if (element < on.axes[i].first_in(window[i]) || element >= on.axes[i].last_in(window[i]))
        return {};
    }
    auto from = on.element(window, on.in.plane(image, channel / multiple), k);
    auto to = on.out.plane(image, channel) + pixel * on.out.step();
    return gpu::load(x[from]) * gpu::load(dy[to]);
  }
};

template <class T>
struct depthwise_filter {
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto start, gpu::start_depthwise(at));
    if (start.done)
      return {};
    const auto& on = start.on;
    auto pixels = on.out.pixels();
    if (pixels > INT32_MAX)
      return failure(error_kind::unimplemented, "images of ", pixels,
                     " pixels are not computed on GPUs: put the node on /cpu:0");
    const auto& dy = at.input(2);
    auto items = dy.elements() / on.out.channels;
    return gpu::reduce_each<addition, compute_type<T>>(
        at, start.out->elements(), items, !on.out.channels_first,
        depthwise_filter_source<T>{on, start.multiple, pixels, at.input(0).data<T>(), dy.data<T>()},
        gpu::store_total<addition, T>{start.out->template data<T>(), items});
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(depthwise_conv2d_native_backprop_filter){
    .op = "DepthwiseConv2dNativeBackpropFilter",
    .device = device_kind::gpu,
    .run = gpu::depthwise_kernels<depthwise_filter>(types::floating),
    .prepare = gpu::prepare_depthwise<convolution_role::filter>,
};

} // namespace troupe::ops::depthwise_conv2d_native_backprop_filter_gpu
