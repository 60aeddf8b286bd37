#include "troupe/ops/pool/shared/pooling.cpu.hpp"

namespace troupe::ops::avg_pool_grad_cpu {

extern constexpr kernel_def avg_pool_grad_cpu{
    .op = "AvgPoolGrad",
    .run = average_pool_gradients,
    .prepare = prepare_pool<average_pool_2d>,
};

} // namespace troupe::ops::avg_pool_grad_cpu
