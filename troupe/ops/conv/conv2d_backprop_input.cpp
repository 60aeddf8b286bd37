// Conv2DBackpropInput: the gradient of Conv2D with respect to its input.
#include "troupe/ops/conv/shared/convolution.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::conv2d_backprop_input_op {
namespace {

using functions = convolution_functions<convolution_family::plain_2d, convolution_role::input>;

} // namespace

extern constexpr op_def conv2d_backprop_input{
    .name = "Conv2DBackpropInput",
    .doc = "Computes the gradient of Conv2D with respect to its input, which has the shape "
           "input_sizes.",
    .inputs = {on_host("input_sizes", "i32"), {"filter", "T"}, {"out_backprop", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating | one_of(dtype::i32)},
              {"strides", attr_kind::integers},
              {"use_cudnn_on_gpu", true},
              {"padding", attr_kind::text},
              {"explicit_paddings", attr_kind::integers, true},
              {"data_format", "NHWC"},
              {"dilations", attr_kind::integers, true}},
    .effects = autocast_allow,
    .infer = functions::infer,
    .gradient = functions::gradient,
    .flops = functions::flops,
    .example = R"(
w = f32{2,2,1,1}[1, 2, 3, 4]
dx = Conv2DBackpropInput(i32[1, 2, 3, 1], w, f32[[[[1], [10]]]]) strides=[1, 1, 1, 1] padding="VALID"
fetch dx = f32[[[[1], [12], [20]], [[3], [34], [40]]]]
)",
};

} // namespace troupe::ops::conv2d_backprop_input_op
