// DrawBoundingBoxes: draws boxes onto images.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::draw_bounding_boxes_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto images, at.of_rank(0, 4));
  TROUPE_ASSIGN(auto boxes, at.of_rank(1, 3));
  if (boxes[2] != unknown_extent && boxes[2] != 4)
    return at.invalid("boxes must be [batch, count, 4], got ", boxes);
  return shapes{images};
}

} // namespace

extern constexpr op_def draw_bounding_boxes{
    .name = "DrawBoundingBoxes",
    .doc = "Draws the outlines of boxes into images, each in the next of ten colors.\n\n"
           "Images are [batch, height, width, channels] with 1 (gray), 3 (RGB) or 4 channels (with "
           "alpha), in [0, 1]; each has its own boxes, [y1, x1, y2, x2], where 0 and 1 are the "
           "outermost pixels. Boxes that are not in the image, or upside down, are left out.",
    .inputs = {{"images", "T"}, {"boxes", "f32"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", one_of(dtype::f16, dtype::f32), dtype::f32}},
    .infer = infer,
    .no_gradient = "it is for people to look at",
    .example = R"(
y = DrawBoundingBoxes(f32{1,3,3,1}[0], f32[[[0, 0, 1, 1]]])
fetch y = f32[[[[1], [1], [1]], [[1], [0], [1]], [[1], [1], [1]]]]
)",
};

} // namespace troupe::ops::draw_bounding_boxes_op
