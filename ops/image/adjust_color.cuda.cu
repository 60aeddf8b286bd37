#include "troupe/ops/image/shared/color.cuda.hpp"
#include "troupe/ops/image/shared/contrast.hpp"
#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::adjust_color_gpu {
namespace {

// Computes the means per image and channel.
template <class T>
struct contrast_source {
  int64_t channels, pixels;
  const T* x;
  TROUPE_DEVICE double operator()(int64_t output, int64_t pixel) const {
    auto image = output / channels, channel = output - image * channels;
    return static_cast<double>(gpu::load(x[(image * pixels + pixel) * channels + channel]));
  }
};

struct contrast_sink {
  int64_t pixels;
  float* means;
  TROUPE_DEVICE void operator()(int64_t output, const double& total) const {
    means[output] = static_cast<float>(total / static_cast<double>(pixels));
  }
};

template <class T>
struct contrast_body {
  int64_t channels, pixels;
  const T* x;
  const float *means, *factor;
  T* y;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto image = i / (channels * pixels), channel = i % channels;
    auto center = means[image * channels + channel];
    y[i] = gpu::store<T>((static_cast<float>(gpu::load(x[i])) - center) * *factor + center);
  }
};

template <class T>
status contrast_on_gpu(kernel_context& at) {
  TROUPE_TRY(check_factor(at, 1));
  const auto& dims = at.input(0).dims();
  TROUPE_TRY(check_contrast(dims));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (dims.elements() == 0)
    return {};
  auto channels = dims[dims.rank() - 1], pixels = dims[dims.rank() - 2] * dims[dims.rank() - 3],
       means = dims.elements() / pixels;
  TROUPE_ASSIGN(auto mean_values, tensor::make(dtype::f32, shape{means}, at.memory()));
  auto* mean = mean_values.template data<float>();
  const auto* x = at.input(0).data<T>();
  TROUPE_TRY((gpu::reduce_each<addition, double>(at, means, pixels, true,
                                                 contrast_source<T>{channels, pixels, x},
                                                 contrast_sink{pixels, mean})));
  return gpu::for_each(at, dims.elements(),
                       contrast_body<T>{channels, pixels, x, mean, at.input(1).data<float>(),
                                        out->template data<T>()});
}

struct adjust_hue_pixel {
  template <class V>
  static TROUPE_DEVICE color<V> recolor(const color<V>& pixel, float delta) {
    return turn_hue(pixel, delta);
  }
};

struct adjust_saturation_pixel {
  template <class V>
  static TROUPE_DEVICE color<V> recolor(const color<V>& pixel, float scale) {
    return scale_saturation(pixel, scale);
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(adjust_contrast_v2){
    .op = "AdjustContrastv2",
    .device = device_kind::gpu,
    .run = {{dtype::f16, contrast_on_gpu<float16>}, {dtype::f32, contrast_on_gpu<float>}},
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(adjust_hue){
    .op = "AdjustHue",
    .device = device_kind::gpu,
    .run = gpu::pixel_kernels<adjust_hue_pixel>(type_list<float16, float>{}),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(adjust_saturation){
    .op = "AdjustSaturation",
    .device = device_kind::gpu,
    .run = gpu::pixel_kernels<adjust_saturation_pixel>(type_list<float16, float>{}),
};

} // namespace troupe::ops::adjust_color_gpu
