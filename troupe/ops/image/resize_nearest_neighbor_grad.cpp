// ResizeNearestNeighborGrad: what ResizeNearestNeighbor sends back.
#include "troupe/ops/image/shared/resize.hpp"

namespace troupe::ops::resize_nearest_neighbor_grad_op {

extern constexpr op_def resize_nearest_neighbor_grad{
    .name = "ResizeNearestNeighborGrad",
    .doc =
        "Computes the gradient of ResizeNearestNeighbor with respect to its images, whose height "
        "and width `size` says.\n\nWhole numbers that do not fit wrap around.",
    .inputs = {{"grads", "T"}, on_host("size", "i32")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", resizable}, {"align_corners", false}, {"half_pixel_centers", false}},
    .infer = infer_resize,
    .no_gradient = "it is a gradient itself, and nothing is trained through it",
    .example = R"(
y = ResizeNearestNeighborGrad(f32[[[[1], [2]], [[3], [4]], [[5], [6]]]], i32[2, 2])
fetch y = f32[[[[4], [6]], [[5], [6]]]]
)",
};

} // namespace troupe::ops::resize_nearest_neighbor_grad_op
