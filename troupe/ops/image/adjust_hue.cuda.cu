#include "troupe/ops/image/shared/color.cuda.hpp"

namespace troupe::ops::adjust_hue_gpu {
namespace {

struct adjust_hue_pixel {
  template <class V>
  static TROUPE_DEVICE color<V> of(const color<V>& pixel, float delta) {
    return turn_hue(pixel, delta);
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(adjust_hue){
    .op = "AdjustHue",
    .device = device_kind::gpu,
    .run = gpu::pixel_kernels<adjust_hue_pixel>(type_list<float16, float>{}),
};

} // namespace troupe::ops::adjust_hue_gpu
