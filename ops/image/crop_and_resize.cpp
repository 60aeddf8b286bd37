// Boxes cut out of images and made equal in size, and the gradients.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::crop_and_resize_op {
namespace {

status check_crop_method(const infer_context& at, bool nearest_too) {
  const auto& method = at.attr<std::string>("method");
  if (method != "bilinear" && !(nearest_too && method == "nearest"))
    return at.invalid("method must be bilinear", nearest_too ? " or nearest" : "", ", got '",
                      method, "'");
  return {};
}

// The shape of images that boxes can be cut out of.
constexpr auto croppable = one_of(dtype::u8, dtype::u16, dtype::i8, dtype::i16, dtype::i32,
                                  dtype::i64, dtype::f16, dtype::f32, dtype::f64);

result<shapes> infer_crop_and_resize(const infer_context& at) {
  TROUPE_TRY(check_crop_method(at, true));
  TROUPE_ASSIGN(auto images, at.of_rank(0, 4));
  TROUPE_ASSIGN(auto boxes, at.of_rank(1, 2));
  TROUPE_ASSIGN(auto image_of, at.of_rank(2, 1));
  TROUPE_TRY(at.of_rank(3, 1));
  partial_shape dims{boxes[0] == unknown_extent ? image_of[0] : boxes[0], unknown_extent,
                     unknown_extent, images[3]};
  if (auto size = at.integers(3)) {
    if (size->size() != 2 || (*size)[0] <= 0 || (*size)[1] <= 0)
      return at.invalid("crop_size must list a positive height and width");
    dims.set(1, (*size)[0]);
    dims.set(2, (*size)[1]);
  }
  return shapes{dims};
}

edges gradient(gradient_context& at) {
  auto images = at.input(0), boxes = at.input(1), image_of = at.input(2),
       dy = at.output_gradient(0);
  attr_map attrs{{"method", at.attr<std::string>("method")}};
  edge to_images;
  if (one_of(dtype::f16, dtype::f32, dtype::f64).contains(images.type())) {
    auto with_type = attrs;
    with_type["T"] = images.type();
    to_images = build("CropAndResizeGradImage",
                      {dy, boxes, image_of, cast_to(shape_of(images), dtype::i32)}, with_type);
  }
  // As in TensorFlow: boxes use the bilinear gradient for every method.
  return {to_images, build("CropAndResizeGradBoxes", {dy, images, boxes, image_of}), {}, {}};
}

result<shapes> infer_crop_and_resize_grad_boxes(const infer_context& at) {
  TROUPE_TRY(check_crop_method(at, false));
  TROUPE_TRY(at.of_rank(0, 4));
  TROUPE_TRY(at.of_rank(1, 4));
  TROUPE_TRY(at.of_rank(3, 1));
  TROUPE_ASSIGN(auto boxes, at.of_rank(2, 2));
  return shapes{boxes};
}

result<shapes> infer_crop_and_resize_grad_image(const infer_context& at) {
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

extern constexpr op_def crop_and_resize{
    .name = "CropAndResize",
    .doc =
        "Cuts boxes out of images and resizes them to one size.\n\n"
        "A box is [y1, x1, y2, x2], where 0 and 1 are the centers of the outermost pixels; "
        "box_ind says which image it lies in. Pixels are interpolated, or with `method` nearest "
        "taken as they are; what lies outside of the image is extrapolation_value. Where y1 > y2, "
        "the crop is upside down.",
    .inputs = {{"image", "T"}, {"boxes", "f32"}, {"box_ind", "i32"}, on_host("crop_size", "i32")},
    .outputs = {{"crops", "f32"}},
    .attrs = {{"T", croppable}, {"method", "bilinear"}, {"extrapolation_value", 0.0}},
    .infer = infer_crop_and_resize,
    .gradient = gradient,
    .example = R"(
y = CropAndResize(f32[[[[1], [2]], [[3], [4]]]], f32[[0, 0, 1, 1], [1, 0, 0, 0.5]], i32[0, 0],
    i32[2, 3])
fetch y = f32[[[[1], [1.5], [2]], [[3], [3.5], [4]]], [[[3], [3.25], [3.5]], [[1], [1.25], [1.5]]]]
)",
};

extern constexpr op_def crop_and_resize_grad_boxes{
    .name = "CropAndResizeGradBoxes",
    .doc = "Computes the gradient of CropAndResize with respect to its boxes.",
    .inputs = {{"grads", "f32"}, {"image", "T"}, {"boxes", "f32"}, {"box_ind", "i32"}},
    .outputs = {{"output", "f32"}},
    .attrs = {{"T", croppable}, {"method", "bilinear"}},
    .infer = infer_crop_and_resize_grad_boxes,
    .no_gradient = "it is a gradient itself, and nothing is trained through it",
    .example = R"(
y = CropAndResizeGradBoxes(f32[[[[1]], [[1]]]], f32[[[[1], [2]], [[3], [5]]]], f32[[0, 0, 0.5,
    0.5]], i32[0])
fetch y = f32[[0, 1.25, 2.25, 1.25]]
)",
};

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
    .infer = infer_crop_and_resize_grad_image,
    .no_gradient = "it is a gradient itself, and nothing is trained through it",
    .example = R"(
y = CropAndResizeGradImage(f32[[[[1], [2], [3]]]], f32[[0, 0, 0, 1]], i32[0], i32[1, 1, 2, 1]) T=f32
fetch y = f32[[[[2], [4]]]]
)",
};

} // namespace troupe::ops::crop_and_resize_op
