#include "troupe/ops/pool/shared/pooling.cpu.hpp"

namespace troupe::ops::max_pool_3d_grad_cpu {

extern constexpr kernel_def max_pool_3d_grad_cpu{
    .op = "MaxPool3DGrad",
    .run = max_pool_gradients(types::floating),
    .prepare = prepare_pool<pool_3d>,
};

} // namespace troupe::ops::max_pool_3d_grad_cpu
