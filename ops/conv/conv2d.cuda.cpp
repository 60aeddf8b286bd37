#include "troupe/ops/conv/shared/convolution.cuda.hpp"

namespace troupe::ops::conv2d_gpu {

extern constexpr kernel_def conv2d_cuda{
    .op = "Conv2D",
    .device = device_kind::gpu,
    .run = gpu_convolutions,
    .prepare = prepare_gpu_convolution<convolution_family::plain_2d, convolution_role::output>,
};

extern constexpr kernel_def conv2d_backprop_filter_cuda{
    .op = "Conv2DBackpropFilter",
    .device = device_kind::gpu,
    .run = gpu_convolutions,
    .prepare = prepare_gpu_convolution<convolution_family::plain_2d, convolution_role::filter>,
};

extern constexpr kernel_def conv2d_backprop_input_cuda{
    .op = "Conv2DBackpropInput",
    .device = device_kind::gpu,
    .run = gpu_convolutions,
    .prepare = prepare_gpu_convolution<convolution_family::plain_2d, convolution_role::input>,
};

} // namespace troupe::ops::conv2d_gpu
