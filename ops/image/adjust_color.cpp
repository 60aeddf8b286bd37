// Contrast, hue and saturation of images.
#include "troupe/ops/image/shared/color.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::adjust_color_op {
namespace {

result<shapes> infer(const infer_context& at) {
  if (const auto& dims = at.input(0); dims.has_rank() && dims.rank() < 3)
    return at.invalid("images must be [..., height, width, channels], got ", dims);
  for (int i = 1; i < at.inputs(); ++i)
    TROUPE_TRY(at.of_rank(i, 0));
  return shapes{at.input(0)};
}

} // namespace

extern constexpr op_def adjust_contrast_v2{
    .name = "AdjustContrastv2",
    .doc = "Multiplies the distance of each pixel from the average of its image and channel.\n\n"
           "The last three axes are height, width and channels.",
    .inputs = {{"images", "T"}, {"contrast_factor", "f32"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", one_of(dtype::f16, dtype::f32), dtype::f32}},
    .infer = infer,
    .no_gradient = "it is for preparing images, and TensorFlow defines none either",
    .example = R"(
y = AdjustContrastv2(f32[[[1, 0], [3, 0]]], f32(2))
fetch y = f32[[[0, 0], [4, 0]]]
)",
};

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

} // namespace troupe::ops::adjust_color_op
