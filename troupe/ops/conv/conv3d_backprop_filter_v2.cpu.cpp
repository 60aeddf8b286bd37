#include "troupe/ops/conv/shared/convolution.cpu.hpp"

namespace troupe::ops::conv3d_backprop_filter_v2_cpu {

extern constexpr kernel_def conv3d_backprop_filter_v2_cpu{
    .op = "Conv3DBackpropFilterV2",
    .run = convolutions_of_floats,
    .prepare = prepare_convolution<convolution_family::plain_3d, convolution_role::filter>,
};

} // namespace troupe::ops::conv3d_backprop_filter_v2_cpu
