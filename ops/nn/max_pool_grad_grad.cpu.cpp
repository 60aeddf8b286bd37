#include "troupe/ops/nn/pooling.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def max_pool_grad_grad_cpu{
    .op = "MaxPoolGradGrad",
    .run = {{dtype::none, max_pool_second_gradient}},
    .prepare = prepare_pool<max_pool_2d>,
};

} // namespace troupe::ops
