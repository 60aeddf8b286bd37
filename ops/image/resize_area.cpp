// ResizeArea: resizes images by averaging areas.
#include "troupe/ops/image/shared/resize.hpp"

namespace troupe::ops::resize_area_op {

extern constexpr op_def resize_area{
    .name = "ResizeArea",
    .doc = "Resizes images so that each pixel is the average of what it covers of the source.\n\n"
           "`size` is the new height and width. With align_corners, the centers of the pixels at "
           "the corners stay where they are.",
    .inputs = {{"images", "T"}, on_host("size", "i32")},
    .outputs = {{"resized_images", "f32"}},
    .attrs = {{"T", resizable}, {"align_corners", false}},
    .infer = [](const infer_context& at) { return infer_sized(at, 1); },
    .no_gradient = "TensorFlow defines none either; ResizeBilinear has one",
    .example = R"(
y = ResizeArea(f32[[[[1], [2], [3], [6]]]], i32[1, 2])
fetch y = f32[[[[1.5], [4.5]]]]
)",
};

} // namespace troupe::ops::resize_area_op
