#include "troupe/ops/conv/shared/convolution.cuda.hpp"

namespace troupe::ops::conv3d_gpu {

extern constexpr kernel_def conv3d_cuda{
    .op = "Conv3D",
    .device = device_kind::gpu,
    .run = gpu_convolutions,
    .prepare = prepare_gpu_convolution<convolution_family::plain_3d, convolution_role::output>,
};

extern constexpr kernel_def conv3d_backprop_filter_v2_cuda{
    .op = "Conv3DBackpropFilterV2",
    .device = device_kind::gpu,
    .run = gpu_convolutions,
    .prepare = prepare_gpu_convolution<convolution_family::plain_3d, convolution_role::filter>,
};

extern constexpr kernel_def conv3d_backprop_input_v2_cuda{
    .op = "Conv3DBackpropInputV2",
    .device = device_kind::gpu,
    .run = gpu_convolutions,
    .prepare = prepare_gpu_convolution<convolution_family::plain_3d, convolution_role::input>,
};

} // namespace troupe::ops::conv3d_gpu
