// Greyscale dilation, and its gradients.
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
    attrs.insert(*at.source_node().attrs().find(name));
  auto gradient_node = [&](const char* op) {
    return build(op, {at.input(0), at.input(1), at.output_gradient(0)}, attrs);
  };
  return {gradient_node("Dilation2DBackpropInput"), gradient_node("Dilation2DBackpropFilter")};
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

extern constexpr op_def dilation2d_backprop_filter = dilation_gradient({
    .name = "Dilation2DBackpropFilter",
    .doc = "Gives each gradient to the element of the filter whose sum with the input was the "
           "largest of its window.\n\nAmong equals it is the first; what comes to one element is "
           "added up. See Dilation2D.",
    .outputs = {{"filter_backprop", "T"}},
    .infer = infer_dilation_gradient<1>,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
dy = f32[[[[1], [2]], [[3], [4]]]]
dw = Dilation2DBackpropFilter(x, f32[[[0], [2]]],
       dy) strides=[1, 1, 1, 1] rates=[1, 1, 1, 1] padding="VALID"
fetch dw = f32[[[0], [10]]]
)",
});

extern constexpr op_def dilation2d_backprop_input = dilation_gradient({
    .name = "Dilation2DBackpropInput",
    .doc = "Gives each gradient to the element of the input whose sum with the filter was the "
           "largest of its window.\n\nAmong equals it is the first; what comes to one element is "
           "added up. See Dilation2D.",
    .outputs = {{"in_backprop", "T"}},
    .infer = infer_dilation_gradient<0>,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
dy = f32[[[[1], [2]], [[3], [4]]]]
dx = Dilation2DBackpropInput(x, f32[[[0], [2]]],
       dy) strides=[1, 1, 1, 1] rates=[1, 1, 1, 1] padding="VALID"
fetch dx = f32[[[[0], [1], [2]], [[0], [3], [4]]]]
)",
});

} // namespace troupe::ops::dilation2d_op
