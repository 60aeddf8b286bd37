// Resizing of images by linear interpolation, and the gradient.
#include "troupe/ops/image/shared/resize.hpp"

namespace troupe::ops::resize_bilinear_op {
namespace {

edges gradient(gradient_context& at) { return resize_gradient(at, "ResizeBilinearGrad"); }

} // namespace

extern constexpr op_def resize_bilinear = interpolating({
    .name = "ResizeBilinear",
    .doc =
        "Resizes images by interpolating between the four neighbours of each pixel.\n\n"
        "`size` is the new height and width. With align_corners, the centers of the pixels at "
        "the corners stay where they are; with half_pixel_centers, a pixel lies half a pixel away "
        "from its corner, as images are taken to be elsewhere.",
    .gradient = gradient,
    .example = R"(
x = Placeholder dtype=f32 shape=[1,2,2,1]
y = ResizeBilinear(x, i32[3, 2]) align_corners=true
feed x = f32[[[[1], [2]], [[3], [4]]]]
fetch y = f32[[[[1], [2]], [[2], [3]], [[3], [4]]]]
)",
});

extern constexpr op_def resize_bilinear_grad{
    .name = "ResizeBilinearGrad",
    .doc = "Computes the gradient of ResizeBilinear with respect to its images.",
    .inputs = {{"grads", "f32"}, {"original_image", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating}, {"align_corners", false}, {"half_pixel_centers", false}},
    .infer = infer_resize_gradient,
    .no_gradient = "it is a gradient itself, and nothing is trained through it",
    .example = R"(
x = Placeholder dtype=f32 shape=[1,2,2,1]
y = ResizeBilinearGrad(f32[[[[1], [2]], [[3], [4]], [[5], [6]]]], x) align_corners=true
feed x = f32[[[[0], [0]], [[0], [0]]]]
fetch y = f32[[[[2.5], [4]], [[6.5], [8]]]]
)",
};

} // namespace troupe::ops::resize_bilinear_op
