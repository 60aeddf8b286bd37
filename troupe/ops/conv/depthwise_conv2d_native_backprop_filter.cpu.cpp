#include "troupe/ops/conv/shared/convolution.cpu.hpp"

namespace troupe::ops::depthwise_conv2d_native_backprop_filter_cpu {

extern constexpr kernel_def depthwise_conv2d_native_backprop_filter_cpu{
    .op = "DepthwiseConv2dNativeBackpropFilter",
    .run = convolutions_of_floats,
    .prepare = prepare_convolution<convolution_family::depthwise_2d, convolution_role::filter>,
};

} // namespace troupe::ops::depthwise_conv2d_native_backprop_filter_cpu
