#include "troupe/ops/conv/shared/convolution.cuda.hpp"

namespace troupe::ops::conv3d_backprop_filter_v2_gpu {

extern constexpr kernel_def conv3d_backprop_filter_v2_cuda{
    .op = "Conv3DBackpropFilterV2",
    .device = device_kind::gpu,
    .run = gpu_convolutions,
    .prepare = prepare_gpu_convolution<convolution_family::plain_3d, convolution_role::filter>,
};

} // namespace troupe::ops::conv3d_backprop_filter_v2_gpu
