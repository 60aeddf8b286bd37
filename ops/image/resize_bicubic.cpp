// Resizing of images by cubic interpolation, and the gradient.
#include "troupe/ops/image/shared/resize.hpp"

namespace troupe::ops::resize_bicubic_op {
namespace {

edges gradient(gradient_context& at) { return resize_gradient(at, "ResizeBicubicGrad"); }

} // namespace

extern constexpr op_def resize_bicubic = interpolating({
    .name = "ResizeBicubic",
    .doc = "Resizes images by a cubic through the sixteen neighbours of each pixel.\n\n"
           "`size` is the new height and width. align_corners and half_pixel_centers say where "
           "pixels lie, as for ResizeBilinear. Half pixels take Keys' cubic with a = -0.5, which "
           "leaves out what lies beyond the border; else a is -0.75, and the border is repeated.",
    .gradient = gradient,
    .example = R"(
x = Placeholder dtype=f32 shape=[1,2,2,1]
y = ResizeBicubic(x, i32[3, 2]) align_corners=true
feed x = f32[[[[1], [2]], [[3], [4]]]]
fetch y = f32[[[[1], [2]], [[2], [3]], [[3], [4]]]]
)",
});

extern constexpr op_def resize_bicubic_grad{
    .name = "ResizeBicubicGrad",
    .doc = "Computes the gradient of ResizeBicubic with respect to its images.",
    .inputs = {{"grads", "f32"}, {"original_image", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", one_of(dtype::f32, dtype::f64)},
              {"align_corners", false},
              {"half_pixel_centers", false}},
    .infer = infer_resize_gradient,
    .no_gradient = "it is a gradient itself, and nothing is trained through it",
    .example = R"(
x = Placeholder dtype=f32 shape=[1,2,2,1]
y = ResizeBicubicGrad(f32[[[[1], [2]], [[3], [4]], [[5], [6]]]], x) align_corners=true
feed x = f32[[[[0], [0]], [[0], [0]]]]
fetch y = f32[[[[2.5], [4]], [[6.5], [8]]]]
)",
};

} // namespace troupe::ops::resize_bicubic_op
