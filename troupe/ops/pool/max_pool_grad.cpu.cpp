#include "troupe/ops/pool/shared/pooling.cpu.hpp"

namespace troupe::ops::max_pool_grad_cpu {

extern constexpr kernel_def max_pool_grad_cpu{
    .op = "MaxPoolGrad",
    .run = max_pool_gradients(types::real_numbers),
    .prepare = prepare_pool<max_pool_2d>,
};

} // namespace troupe::ops::max_pool_grad_cpu
