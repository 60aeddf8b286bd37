#include "troupe/ops/image/shared/color.cpu.hpp"

namespace troupe::ops::hsv_to_rgb_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  return map_pixels<T>(at, [](const auto& pixel) { return from_hsv(pixel); });
}

} // namespace

extern constexpr kernel_def hsv_to_rgb_cpu{
    .op = "HSVToRGB",
    .run = {{dtype::f16, run<float16>},
            {dtype::bf16, run<bfloat16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
};

} // namespace troupe::ops::hsv_to_rgb_cpu
