// DepthwiseConv2dNative: each channel seen through filters of its own.
#include "troupe/ops/conv/shared/convolution.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::depthwise_conv2d_native_op {
namespace {

using functions = convolution_functions<convolution_family::depthwise_2d, convolution_role::output>;

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
    .effects = autocast_allow,
    .infer = functions::infer,
    .gradient = functions::gradient,
    .flops = functions::flops,
    .example = R"(
x = f32[[[[1, 10], [2, 20]], [[3, 30], [4, 40]]]]
w = f32{2,2,2,1}[1, 1, 2, 1, 3, 1, 4, 1]
y = DepthwiseConv2dNative(x, w) strides=[1, 1, 1, 1] padding="VALID"
fetch y = f32[[[[30, 100]]]]
)",
};

} // namespace troupe::ops::depthwise_conv2d_native_op
