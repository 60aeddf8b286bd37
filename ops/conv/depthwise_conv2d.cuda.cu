#include "troupe/ops/conv/shared/convolution_task.hpp"
#include "troupe/ops/conv/shared/windows.cuda.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

inline result<windows> windows_of(const convolution_shape& geometry) {
  return place_windows(geometry.axes, geometry.images, geometry.in_channels, geometry.out_channels,
                       geometry.channels_first);
}

// Where the kernels start. Output 0 is allocated, and is complete where there are no windows.
struct depthwise_start {
  windows on;
  tensor* out;
  int32_t multiple; // output channels of each input channel
  bool done;
};

inline result<depthwise_start> start_depthwise(kernel_context& at) {
  TROUPE_ASSIGN(auto task, task_of(at, at.state<convolution_setup>()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, task.result));
  if (out->elements() == 0 || task.geometry.multiplications() == 0) {
    fill_zeros(at, *out);
    return depthwise_start{{}, out, 1, true};
  }
  TROUPE_ASSIGN(auto on, windows_of(task.geometry));
  return depthwise_start{on, out, on.out.channels / on.in.channels, false};
}

template <convolution_role Role>
result<std::shared_ptr<void>> prepare_depthwise(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto convolution_settings,
                read_convolution(setup, {convolution_family::depthwise_2d, Role}));
  return std::shared_ptr<void>{
      std::make_shared<convolution_setup>(std::move(convolution_settings))};
}

template <template <class> class Kernel, class... Ts>
constexpr inplace_vector<typed_kernel, 18> depthwise_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, Kernel<Ts>::run}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

namespace troupe::ops::depthwise_conv2d_gpu {
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

// The terms that the windows add to an element of the filter.
template <class T>
struct depthwise_filter_source {
  gpu::windows on;
  int32_t multiple;
  int64_t pixels; // per output image
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

template <class T>
struct depthwise_input_body {
  gpu::windows on;
  int32_t multiple;
  const T *filter, *dy;
  T* dx;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto position = on.in.locate(i);
    auto channels = on.out.channels;
    compute_type<T> sum{};
    for (auto channel = position.channel * multiple; channel < (position.channel + 1) * multiple;
         ++channel)
      on.for_each_window(position.at, on.out.plane(position.image, channel),
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

extern constexpr kernel_def TROUPE_GPU_KERNEL(depthwise_conv2d_native){
    .op = "DepthwiseConv2dNative",
    .device = device_kind::gpu,
    .run = gpu::depthwise_kernels<depthwise>(types::floating),
    .prepare = gpu::prepare_depthwise<convolution_role::output>,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(depthwise_conv2d_native_backprop_filter){
    .op = "DepthwiseConv2dNativeBackpropFilter",
    .device = device_kind::gpu,
    .run = gpu::depthwise_kernels<depthwise_filter>(types::floating),
    .prepare = gpu::prepare_depthwise<convolution_role::filter>,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(depthwise_conv2d_native_backprop_input){
    .op = "DepthwiseConv2dNativeBackpropInput",
    .device = device_kind::gpu,
    .run = gpu::depthwise_kernels<depthwise_input>(types::floating),
    .prepare = gpu::prepare_depthwise<convolution_role::input>,
};

} // namespace troupe::ops::depthwise_conv2d_gpu
