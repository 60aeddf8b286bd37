#include "troupe/ops/conv/shared/convolution.cuda.hpp"

namespace troupe::ops::conv2d_gpu {

extern constexpr kernel_def conv2d_cuda{
    .op = "Conv2D",
    .device = device_kind::gpu,
    .run = gpu_convolutions,
    .prepare = prepare_gpu_convolution<convolution_family::plain_2d, convolution_role::output>,
};

} // namespace troupe::ops::conv2d_gpu
