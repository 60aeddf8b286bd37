// AdjustSaturation: how colorful pixels are, scaled.
#include "troupe/ops/image/shared/color.hpp"

namespace troupe::ops::adjust_saturation_op {

extern constexpr op_def adjust_saturation{
    .name = "AdjustSaturation",
    .doc = "Multiplies the saturation of each pixel by scale.\n\nThe saturation stays in [0, 1], "
           "and the hue and the value as they are.",
    .inputs = {{"images", "T"}, {"scale", "f32"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", one_of(dtype::f16, dtype::f32), dtype::f32}},
    .effects = effect::forwardable,
    .infer = infer_pixels,
    .no_gradient = "it is for preparing images, and TensorFlow defines none either",
    .example = R"(
y = AdjustSaturation(f32[[1, 0.5, 0.5]], f32(0.5))
fetch y = f32[[1, 0.75, 0.75]]
)",
};

} // namespace troupe::ops::adjust_saturation_op
