// Dilation2DBackpropFilter: the gradient of Dilation2D by its filter.
#include "troupe/ops/conv/shared/dilation.hpp"

namespace troupe::ops::dilation2d_backprop_filter_op {

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

} // namespace troupe::ops::dilation2d_backprop_filter_op
