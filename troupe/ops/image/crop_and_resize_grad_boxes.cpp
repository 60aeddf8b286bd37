// CropAndResizeGradBoxes: what CropAndResize sends back to its boxes.
#include "troupe/ops/image/shared/crop.hpp"

namespace troupe::ops::crop_and_resize_grad_boxes_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(check_crop_method(at, false));
  TROUPE_TRY(at.of_rank(0, 4));
  TROUPE_TRY(at.of_rank(1, 4));
  TROUPE_TRY(at.of_rank(3, 1));
  TROUPE_ASSIGN(auto boxes, at.of_rank(2, 2));
  return shapes{boxes};
}

} // namespace

extern constexpr op_def crop_and_resize_grad_boxes{
    .name = "CropAndResizeGradBoxes",
    .doc = "Computes the gradient of CropAndResize with respect to its boxes.",
    .inputs = {{"grads", "f32"}, {"image", "T"}, {"boxes", "f32"}, {"box_ind", "i32"}},
    .outputs = {{"output", "f32"}},
    .attrs = {{"T", croppable}, {"method", "bilinear"}},
    .infer = infer,
    .no_gradient = "it is a gradient itself, and nothing is trained through it",
    .example = R"(
y = CropAndResizeGradBoxes(f32[[[[1]], [[1]]]], f32[[[[1], [2]], [[3], [5]]]], f32[[0, 0, 0.5,
    0.5]], i32[0])
fetch y = f32[[0, 1.25, 2.25, 1.25]]
)",
};

} // namespace troupe::ops::crop_and_resize_grad_boxes_op
