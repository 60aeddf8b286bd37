#include "troupe/ops/conv/shared/convolution.cpu.hpp"

namespace troupe::ops::depthwise_conv2d_cpu {

extern constexpr kernel_def depthwise_conv2d_native_cpu{
    .op = "DepthwiseConv2dNative",
    .run = convolutions_of_floats,
    .prepare = prepare_convolution<convolution_family::depthwise_2d, convolution_role::output>,
};

extern constexpr kernel_def depthwise_conv2d_native_backprop_filter_cpu{
    .op = "DepthwiseConv2dNativeBackpropFilter",
    .run = convolutions_of_floats,
    .prepare = prepare_convolution<convolution_family::depthwise_2d, convolution_role::filter>,
};

extern constexpr kernel_def depthwise_conv2d_native_backprop_input_cpu{
    .op = "DepthwiseConv2dNativeBackpropInput",
    .run = convolutions_of_floats,
    .prepare = prepare_convolution<convolution_family::depthwise_2d, convolution_role::input>,
};

} // namespace troupe::ops::depthwise_conv2d_cpu
