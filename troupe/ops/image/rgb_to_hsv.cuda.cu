#include "troupe/ops/image/shared/color.cuda.hpp"

namespace troupe::ops::rgb_to_hsv_gpu {
namespace {

struct rgb_to_hsv_pixel {
  template <class V>
  static TROUPE_DEVICE color<V> of(const color<V>& pixel, float) {
    return to_hsv(pixel);
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(rgb_to_hsv){
    .op = "RGBToHSV",
    .device = device_kind::gpu,
    .run = gpu::pixel_kernels<rgb_to_hsv_pixel>(types::floating),
};

} // namespace troupe::ops::rgb_to_hsv_gpu
