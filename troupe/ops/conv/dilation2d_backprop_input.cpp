// Dilation2DBackpropInput: the gradient of Dilation2D by its input.
#include "troupe/ops/conv/shared/dilation.hpp"

namespace troupe::ops::dilation2d_backprop_input_op {

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

} // namespace troupe::ops::dilation2d_backprop_input_op
