#include "troupe/ops/conv/shared/convolution.cpu.hpp"

namespace troupe::ops::conv2d_cpu {

extern constexpr kernel_def conv2d_cpu{
    .op = "Conv2D",
    .run = convolutions_of_numbers,
    .prepare = prepare_convolution<convolution_family::plain_2d, convolution_role::output>,
};

extern constexpr kernel_def conv2d_backprop_filter_cpu{
    .op = "Conv2DBackpropFilter",
    .run = convolutions_of_floats,
    .prepare = prepare_convolution<convolution_family::plain_2d, convolution_role::filter>,
};

extern constexpr kernel_def conv2d_backprop_input_cpu{
    .op = "Conv2DBackpropInput",
    .run = convolutions_of_numbers,
    .prepare = prepare_convolution<convolution_family::plain_2d, convolution_role::input>,
};

} // namespace troupe::ops::conv2d_cpu
