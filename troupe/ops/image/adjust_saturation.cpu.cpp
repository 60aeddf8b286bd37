#include "troupe/ops/image/shared/color.cpu.hpp"

namespace troupe::ops::adjust_saturation_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  TROUPE_ASSIGN(auto scale, factor_at(at, 1));
  return map_pixels<T>(at, [scale](const auto& pixel) { return scale_saturation(pixel, scale); });
}

} // namespace

extern constexpr kernel_def adjust_saturation_cpu{
    .op = "AdjustSaturation",
    .run = {{dtype::f16, run<float16>}, {dtype::f32, run<float>}},
};

} // namespace troupe::ops::adjust_saturation_cpu
