#include "troupe/ops/pool/shared/pooling.cpu.hpp"

namespace troupe::ops::max_pool_cpu {

extern constexpr kernel_def max_pool_cpu{
    .op = "MaxPool",
    .run = max_pool_kernels(max_pool_types),
    .prepare = prepare_pool<max_pool_2d>,
};

extern constexpr kernel_def max_pool_grad_cpu{
    .op = "MaxPoolGrad",
    .run = max_pool_gradients(types::real_numbers),
    .prepare = prepare_pool<max_pool_2d>,
};

extern constexpr kernel_def max_pool_grad_grad_cpu{
    .op = "MaxPoolGradGrad",
    .run = {{dtype::none, max_pool_second_gradient}},
    .prepare = prepare_pool<max_pool_2d>,
};

} // namespace troupe::ops::max_pool_cpu
