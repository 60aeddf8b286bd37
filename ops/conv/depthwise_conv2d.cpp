// Convolution of each channel by itself, and its gradients.
#include "troupe/ops/conv/shared/convolution.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::depthwise_conv2d_op {
namespace {

using depthwise_conv2d_native_functions =
    convolution_functions<convolution_family::depthwise_2d, convolution_role::output>;
using depthwise_conv2d_native_backprop_filter_functions =
    convolution_functions<convolution_family::depthwise_2d, convolution_role::filter>;
using depthwise_conv2d_native_backprop_input_functions =
    convolution_functions<convolution_family::depthwise_2d, convolution_role::input>;

} // namespace

extern constexpr op_def depthwise_conv2d_native{
    .name = "DepthwiseConv2dNative",
    .doc = "Computes a 2-D convolution of each channel with filters of its own.\n\n"
           "The filter is [rows, columns, channels, multiplier]: channel c becomes the output "
           "channels c * multiplier up to (c + 1) * multiplier - 1. Otherwise it is as Conv2D; "
           "strides may differ between rows and columns.",
    .inputs = {{"input", "T"}, {"filter", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"explicit_paddings", attr_kind::integers, true},
              {"data_format", "NHWC"},
              {"dilations", attr_kind::integers, true}},
    .effects = effect::autocast_allow,
    .infer = depthwise_conv2d_native_functions::infer,
    .gradient = depthwise_conv2d_native_functions::gradient,
    .flops = depthwise_conv2d_native_functions::flops,
    .example = R"(
x = f32[[[[1, 10], [2, 20]], [[3, 30], [4, 40]]]]
w = f32{2,2,2,1}[1, 1, 2, 1, 3, 1, 4, 1]
y = DepthwiseConv2dNative(x, w) strides=[1, 1, 1, 1] padding="VALID"
fetch y = f32[[[[30, 100]]]]
)",
};

extern constexpr op_def depthwise_conv2d_native_backprop_filter{
    .name = "DepthwiseConv2dNativeBackpropFilter",
    .doc = "Computes the gradient of DepthwiseConv2dNative with respect to its filter, which has "
           "the shape filter_sizes.",
    .inputs = {{"input", "T"}, on_host("filter_sizes", "i32"), {"out_backprop", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"explicit_paddings", attr_kind::integers, true},
              {"data_format", "NHWC"},
              {"dilations", attr_kind::integers, true}},
    .effects = effect::autocast_allow,
    .infer = depthwise_conv2d_native_backprop_filter_functions::infer,
    .gradient = depthwise_conv2d_native_backprop_filter_functions::gradient,
    .flops = depthwise_conv2d_native_backprop_filter_functions::flops,
    .example = R"(
x = f32[[[[1, 10], [2, 20]], [[3, 30], [4, 40]]]]
dw = DepthwiseConv2dNativeBackpropFilter(x, i32[2, 2, 2, 1], f32[[[[1, 2]]]]) strides=[1, 1, 1, 1] padding="VALID"
fetch dw = f32{2,2,2,1}[1, 20, 2, 40, 3, 60, 4, 80]
)",
};

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
    .effects = effect::autocast_allow,
    .infer = depthwise_conv2d_native_backprop_input_functions::infer,
    .gradient = depthwise_conv2d_native_backprop_input_functions::gradient,
    .flops = depthwise_conv2d_native_backprop_input_functions::flops,
    .example = R"(
w = f32{2,2,2,1}[1, 1, 2, 1, 3, 1, 4, 1]
dx = DepthwiseConv2dNativeBackpropInput(i32[1, 2, 2, 2], w, f32[[[[1, 10]]]]) strides=[1, 1, 1, 1] padding="VALID"
fetch dx = f32[[[[1, 10], [2, 10]], [[3, 10], [4, 10]]]]
)",
};

} // namespace troupe::ops::depthwise_conv2d_op
