// Conversion of colors between red, green, blue and hue, saturation, value.
#include "troupe/ops/image/shared/color.hpp"

namespace troupe::ops::hsv_op {

extern constexpr op_def hsv_to_rgb{
    .name = "HSVToRGB",
    .doc = "Converts the hue, saturation and value of each pixel to red, green and blue.\n\nAll "
           "six are in [0, 1], and the hue is a fraction of a turn.",
    .inputs = {{"images", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating, dtype::f32}},
    .effects = effect::forwardable,
    .infer = infer_pixels,
    .no_gradient = "it has corners at each sixth of a turn",
    .example = R"(
y = HSVToRGB(f32[[0, 0.5, 0.5], [0, 0, 0.75]])
fetch y = f32[[0.5, 0.25, 0.25], [0.75, 0.75, 0.75]]
)",
};

extern constexpr op_def rgb_to_hsv{
    .name = "RGBToHSV",
    .doc = "Converts the red, green and blue of each pixel to hue, saturation and value.\n\nColors "
           "are in [0, 1], and the hue is a fraction of a turn.",
    .inputs = {{"images", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating, dtype::f32}},
    .effects = effect::forwardable,
    .infer = infer_pixels,
    .no_gradient = "its hue jumps",
    .example = R"(
y = RGBToHSV(f32[[0.5, 0.25, 0.25], [0, 0, 0.75]])
fetch y = f32[[0, 0.5, 0.5], [0.6666667, 1, 0.75]]
)",
};

} // namespace troupe::ops::hsv_op
