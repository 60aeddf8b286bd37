// Resizing of images by nearest pixels, and the gradient.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/image/shared/resize.hpp"

namespace troupe::ops::resize_nearest_neighbor_op {
namespace {

edges gradient(gradient_context& at) {
  auto images = at.input(0);
  edge size;
  if (auto dims = images.dims(); dims.has_rank() && dims[1] >= 0 && dims[2] >= 0)
    size = constant_like(images, tensor::vector<int32_t>({static_cast<int32_t>(dims[1]),
                                                          static_cast<int32_t>(dims[2])}));
  else
    size = cast_to(
        build("Slice", {shape_of(images), integers_like(images, {1}), integers_like(images, {2})}),
        dtype::i32);
  return {build("ResizeNearestNeighborGrad", {at.output_gradient(0), size},
                {{"align_corners", at.attr<bool>("align_corners")},
                 {"half_pixel_centers", at.attr<bool>("half_pixel_centers")}}),
          {}};
}

} // namespace

extern constexpr op_def resize_nearest_neighbor{
    .name = "ResizeNearestNeighbor",
    .doc = "Resizes images by taking the nearest pixel of the source for each.\n\n"
           "`size` is the new height and width; align_corners and half_pixel_centers say where "
           "pixels lie, as for ResizeBilinear.",
    .inputs = {{"images", "T"}, on_host("size", "i32")},
    .outputs = {{"resized_images", "T"}},
    .attrs = {{"T", resizable}, {"align_corners", false}, {"half_pixel_centers", false}},
    .infer = infer_resize,
    .gradient = gradient,
    .example = R"(
x = Placeholder dtype=f32 shape=[1,2,2,1]
y = ResizeNearestNeighbor(x, i32[3, 2])
feed x = f32[[[[1], [2]], [[3], [4]]]]
fetch y = f32[[[[1], [2]], [[1], [2]], [[3], [4]]]]
)",
};

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

} // namespace troupe::ops::resize_nearest_neighbor_op
