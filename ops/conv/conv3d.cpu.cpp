#include "troupe/ops/conv/shared/convolution.cpu.hpp"

namespace troupe::ops::conv3d_cpu {

extern constexpr kernel_def conv3d_cpu{
    .op = "Conv3D",
    .run = convolutions_of_floats,
    .prepare = prepare_convolution<convolution_family::plain_3d, convolution_role::output>,
};

extern constexpr kernel_def conv3d_backprop_filter_v2_cpu{
    .op = "Conv3DBackpropFilterV2",
    .run = convolutions_of_floats,
    .prepare = prepare_convolution<convolution_family::plain_3d, convolution_role::filter>,
};

extern constexpr kernel_def conv3d_backprop_input_v2_cpu{
    .op = "Conv3DBackpropInputV2",
    .run = convolutions_of_floats,
    .prepare = prepare_convolution<convolution_family::plain_3d, convolution_role::input>,
};

} // namespace troupe::ops::conv3d_cpu
