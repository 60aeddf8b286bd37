#include "troupe/ops/image/shared/color.cpu.hpp"

namespace troupe::ops::hsv_cpu {
namespace {

template <class T>
status run_hsv_to_rgb(kernel_context& at) {
  return map_pixels<T>(at, [](const auto& pixel) { return from_hsv(pixel); });
}

template <class T>
status run_rgb_to_hsv(kernel_context& at) {
  return map_pixels<T>(at, [](const auto& pixel) { return to_hsv(pixel); });
}

} // namespace

extern constexpr kernel_def hsv_to_rgb_cpu{
    .op = "HSVToRGB",
    .run = {{dtype::f16, run_hsv_to_rgb<float16>},
            {dtype::bf16, run_hsv_to_rgb<bfloat16>},
            {dtype::f32, run_hsv_to_rgb<float>},
            {dtype::f64, run_hsv_to_rgb<double>}},
};

extern constexpr kernel_def rgb_to_hsv_cpu{
    .op = "RGBToHSV",
    .run = {{dtype::f16, run_rgb_to_hsv<float16>},
            {dtype::bf16, run_rgb_to_hsv<bfloat16>},
            {dtype::f32, run_rgb_to_hsv<float>},
            {dtype::f64, run_rgb_to_hsv<double>}},
};

} // namespace troupe::ops::hsv_cpu
