#include "troupe/ops/image/shared/color.cpu.hpp"

namespace troupe::ops::adjust_hue_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  TROUPE_ASSIGN(auto delta, factor_at(at, 1));
  return map_pixels<T>(at, [delta](const auto& pixel) { return turn_hue(pixel, delta); });
}

} // namespace

extern constexpr kernel_def adjust_hue_cpu{
    .op = "AdjustHue",
    .run = {{dtype::f16, run<float16>}, {dtype::f32, run<float>}},
};

} // namespace troupe::ops::adjust_hue_cpu
