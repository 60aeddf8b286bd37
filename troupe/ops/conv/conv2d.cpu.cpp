#include "troupe/ops/conv/shared/convolution.cpu.hpp"

namespace troupe::ops::conv2d_cpu {

extern constexpr kernel_def conv2d_cpu{
    .op = "Conv2D",
    .run = convolutions_of_numbers,
    .prepare = prepare_convolution<convolution_family::plain_2d, convolution_role::output>,
};

} // namespace troupe::ops::conv2d_cpu
