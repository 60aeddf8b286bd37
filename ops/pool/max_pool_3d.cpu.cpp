#include "troupe/ops/pool/shared/pooling.cpu.hpp"

namespace troupe::ops::max_pool_3d_cpu {

extern constexpr kernel_def max_pool_3d_cpu{
    .op = "MaxPool3D",
    .run = max_pool_kernels(types::floating),
    .prepare = prepare_pool<pool_3d>,
};

extern constexpr kernel_def max_pool_3d_grad_cpu{
    .op = "MaxPool3DGrad",
    .run = max_pool_gradients(types::floating),
    .prepare = prepare_pool<pool_3d>,
};

extern constexpr kernel_def max_pool_3d_grad_grad_cpu{
    .op = "MaxPool3DGradGrad",
    .run = {{dtype::none, max_pool_second_gradient}},
    .prepare = prepare_pool<pool_3d>,
};

} // namespace troupe::ops::max_pool_3d_cpu
