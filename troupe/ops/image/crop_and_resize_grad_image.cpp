// CropAndResizeGradImage: what CropAndResize sends back to its images.
#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/image/shared/crop.hpp"

namespace troupe::ops::crop_and_resize_grad_image_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(check_crop_method(at, true));
  TROUPE_TRY(at.of_rank(0, 4));
  TROUPE_TRY(at.of_rank(1, 2));
  TROUPE_TRY(at.of_rank(2, 1));
  TROUPE_ASSIGN(auto dims, listed_extents(at, 3));
  if (dims.has_rank() && dims.rank() != 4)
    return at.invalid("image_size must list 4 extents, got ", dims);
  return shapes{dims};
}

} // namespace

extern constexpr op_def crop_and_resize_grad_image{
    .name = "CropAndResizeGradImage",
    .doc = "Computes the gradient of CropAndResize with respect to its images, whose shape "
           "image_size lists.",
    .inputs = {{"grads", "f32"},
               {"boxes", "f32"},
               {"box_ind", "i32"},
               on_host("image_size", "i32")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", one_of(dtype::f16, dtype::f32, dtype::f64)}, {"method", "bilinear"}},
    .infer = infer,
    .no_gradient = "it is a gradient itself, and nothing is trained through it",
    .example = R"(
y = CropAndResizeGradImage(f32[[[[1], [2], [3]]]], f32[[0, 0, 0, 1]], i32[0], i32[1, 1, 2, 1]) T=f32
fetch y = f32[[[[2], [4]]]]
)",
};

} // namespace troupe::ops::crop_and_resize_grad_image_op
