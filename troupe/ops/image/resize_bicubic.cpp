// ResizeBicubic: images of another size, by cubic interpolation.
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

} // namespace troupe::ops::resize_bicubic_op
