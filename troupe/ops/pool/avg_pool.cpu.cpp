#include "troupe/ops/pool/shared/pooling.cpu.hpp"

namespace troupe::ops::avg_pool_cpu {

extern constexpr kernel_def avg_pool_cpu{
    .op = "AvgPool",
    .run = average_pools,
    .prepare = prepare_pool<average_pool_2d>,
};

} // namespace troupe::ops::avg_pool_cpu
