#include "troupe/ops/image/shared/color.cuda.hpp"

namespace troupe::ops::adjust_saturation_gpu {
namespace {

struct adjust_saturation_pixel {
  template <class V>
  static TROUPE_DEVICE color<V> of(const color<V>& pixel, float scale) {
    return scale_saturation(pixel, scale);
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(adjust_saturation){
    .op = "AdjustSaturation",
    .device = device_kind::gpu,
    .run = gpu::pixel_kernels<adjust_saturation_pixel>(type_list<float16, float>{}),
};

} // namespace troupe::ops::adjust_saturation_gpu
