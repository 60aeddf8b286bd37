// ResizeBilinear: images of another size, by linear interpolation.
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

} // namespace troupe::ops::resize_bilinear_op
