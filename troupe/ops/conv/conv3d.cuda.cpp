#include "troupe/ops/conv/shared/convolution.cuda.hpp"

namespace troupe::ops::conv3d_gpu {

extern constexpr kernel_def conv3d_cuda{
    .op = "Conv3D",
    .device = device_kind::gpu,
    .run = gpu_convolutions,
    .prepare = prepare_gpu_convolution<convolution_family::plain_3d, convolution_role::output>,
};

} // namespace troupe::ops::conv3d_gpu
