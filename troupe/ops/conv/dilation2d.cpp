// Dilation2D: the largest sum of an element and the filter's, in each window.
#include "troupe/ops/conv/shared/dilation.hpp"

namespace troupe::ops::dilation2d_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto dilated, infer_dilated(at));
  return shapes{dilated};
}

edges gradient(gradient_context& at) {
  attr_map attrs;
  for (auto name : {"strides", "rates", "padding"})
    attrs.insert(*at.of().attrs().find(name));
  auto with = [&](const char* op) {
    return build(op, {at.input(0), at.input(1), at.output_gradient(0)}, attrs);
  };
  return {with("Dilation2DBackpropInput"), with("Dilation2DBackpropFilter")};
}

} // namespace

extern constexpr op_def dilation2d{
    .name = "Dilation2D",
    .doc = "Computes the grayscale dilation of images by a filter for each channel.\n\n"
           "input is [images, rows, columns, channels], filter [rows, columns, channels]. In each "
           "window, the filter is added to the elements that it lies on, and the largest sum "
           "taken. Windows move by strides, and have their elements rates apart; both have four "
           "numbers, 1 for images and channels. Padding is SAME or VALID and holds no elements. "
           "The gradient goes to the first among equals. A NaN is never the largest.",
    .inputs = {{"input", "T"}, {"filter", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = dilation_attrs,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
y = Dilation2D(x, f32[[[0], [2]]]) strides=[1, 1, 1, 1] rates=[1, 1, 1, 1] padding="VALID"
fetch y = f32[[[[4], [5]], [[7], [6]]]]
)",
};

} // namespace troupe::ops::dilation2d_op
