#include "troupe/ops/conv/shared/convolution.cpu.hpp"

namespace troupe::ops::depthwise_conv2d_native_cpu {

extern constexpr kernel_def depthwise_conv2d_native_cpu{
    .op = "DepthwiseConv2dNative",
    .run = convolutions_of_floats,
    .prepare = prepare_convolution<convolution_family::depthwise_2d, convolution_role::output>,
};

} // namespace troupe::ops::depthwise_conv2d_native_cpu
