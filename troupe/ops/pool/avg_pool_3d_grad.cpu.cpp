#include "troupe/ops/pool/shared/pooling.cpu.hpp"

namespace troupe::ops::avg_pool_3d_grad_cpu {

extern constexpr kernel_def avg_pool_3d_grad_cpu{
    .op = "AvgPool3DGrad",
    .run = average_pool_gradients,
    .prepare = prepare_pool<pool_3d>,
};

} // namespace troupe::ops::avg_pool_3d_grad_cpu
