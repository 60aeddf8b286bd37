// HSVToRGB: hue, saturation and value as red, green and blue.
#include "troupe/ops/image/shared/color.hpp"

namespace troupe::ops::hsv_to_rgb_op {

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

} // namespace troupe::ops::hsv_to_rgb_op
