#include "troupe/ops/image/shared/color.cuda.hpp"

namespace troupe::ops::hsv_gpu {
namespace {

struct hsv_to_rgb_pixel {
  template <class V>
  static TROUPE_DEVICE color<V> recolor(const color<V>& pixel, float) {
    return from_hsv(pixel);
  }
};

struct rgb_to_hsv_pixel {
  template <class V>
  static TROUPE_DEVICE color<V> recolor(const color<V>& pixel, float) {
    return to_hsv(pixel);
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(hsv_to_rgb){
    .op = "HSVToRGB",
    .device = device_kind::gpu,
    .run = gpu::pixel_kernels<hsv_to_rgb_pixel>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(rgb_to_hsv){
    .op = "RGBToHSV",
    .device = device_kind::gpu,
    .run = gpu::pixel_kernels<rgb_to_hsv_pixel>(types::floating),
};

} // namespace troupe::ops::hsv_gpu
