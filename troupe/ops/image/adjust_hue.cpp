// AdjustHue: the hue of pixels, turned.
#include "troupe/ops/image/shared/color.hpp"

namespace troupe::ops::adjust_hue_op {

extern constexpr op_def adjust_hue{
    .name = "AdjustHue",
    .doc = "Turns the hue of each pixel by delta, a fraction of a turn.\n\nThe colors keep their "
           "least and greatest of red, green and blue.",
    .inputs = {{"images", "T"}, {"delta", "f32"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", one_of(dtype::f16, dtype::f32), dtype::f32}},
    .effects = effect::forwardable,
    .infer = infer_pixels,
    .no_gradient = "it is for preparing images, and TensorFlow defines none either",
    .example = R"(
y = AdjustHue(f32[[1, 0.5, 0.5]], f32(0.3333333))
fetch y = f32[[0.5, 1, 0.5]]
)",
};

} // namespace troupe::ops::adjust_hue_op
