// DepthwiseConv2dNativeBackpropInput: the gradient with respect to the input.
#include "troupe/ops/conv/shared/convolution.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::depthwise_conv2d_native_backprop_input_op {
namespace {

using functions = convolution_functions<convolution_family::depthwise_2d, convolution_role::input>;

} // namespace

extern constexpr op_def depthwise_conv2d_native_backprop_input{
    .name = "DepthwiseConv2dNativeBackpropInput",
    .doc = "Computes the gradient of DepthwiseConv2dNative with respect to its input, which has "
           "the shape input_sizes.",
    .inputs = {on_host("input_sizes", "i32"), {"filter", "T"}, {"out_backprop", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"explicit_paddings", attr_kind::integers, true},
              {"data_format", "NHWC"},
              {"dilations", attr_kind::integers, true}},
    .effects = autocast_allow,
    .infer = functions::infer,
    .gradient = functions::gradient,
    .flops = functions::flops,
    .example = R"(
w = f32{2,2,2,1}[1, 1, 2, 1, 3, 1, 4, 1]
dx = DepthwiseConv2dNativeBackpropInput(i32[1, 2, 2, 2], w, f32[[[[1, 10]]]]) strides=[1, 1, 1, 1] padding="VALID"
fetch dx = f32[[[[1, 10], [2, 10]], [[3, 10], [4, 10]]]]
)",
};

} // namespace troupe::ops::depthwise_conv2d_native_backprop_input_op
