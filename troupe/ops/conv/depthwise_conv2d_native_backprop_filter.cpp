// DepthwiseConv2dNativeBackpropFilter: the gradient with respect to the filter.
#include "troupe/ops/conv/shared/convolution.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::depthwise_conv2d_native_backprop_filter_op {
namespace {

using functions = convolution_functions<convolution_family::depthwise_2d, convolution_role::filter>;

} // namespace

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
    .effects = autocast_allow,
    .infer = functions::infer,
    .gradient = functions::gradient,
    .flops = functions::flops,
    .example = R"(
x = f32[[[[1, 10], [2, 20]], [[3, 30], [4, 40]]]]
dw = DepthwiseConv2dNativeBackpropFilter(x, i32[2, 2, 2, 1], f32[[[[1, 2]]]]) strides=[1, 1, 1, 1] padding="VALID"
fetch dw = f32{2,2,2,1}[1, 20, 2, 40, 3, 60, 4, 80]
)",
};

} // namespace troupe::ops::depthwise_conv2d_native_backprop_filter_op
