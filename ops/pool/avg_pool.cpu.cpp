#include "troupe/ops/pool/shared/pooling.cpu.hpp"

namespace troupe::ops::avg_pool_cpu {

extern constexpr kernel_def avg_pool_cpu{
    .op = "AvgPool",
    .run = average_pools,
    .prepare = prepare_pool<average_pool_2d>,
};

extern constexpr kernel_def avg_pool_grad_cpu{
    .op = "AvgPoolGrad",
    .run = average_pool_gradients,
    .prepare = prepare_pool<average_pool_2d>,
};

extern constexpr kernel_def avg_pool_3d_cpu{
    .op = "AvgPool3D",
    .run = average_pools,
    .prepare = prepare_pool<pool_3d>,
};

extern constexpr kernel_def avg_pool_3d_grad_cpu{
    .op = "AvgPool3DGrad",
    .run = average_pool_gradients,
    .prepare = prepare_pool<pool_3d>,
};

} // namespace troupe::ops::avg_pool_cpu
