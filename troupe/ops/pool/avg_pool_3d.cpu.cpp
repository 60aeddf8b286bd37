#include "troupe/ops/pool/shared/pooling.cpu.hpp"

namespace troupe::ops::avg_pool_3d_cpu {

extern constexpr kernel_def avg_pool_3d_cpu{
    .op = "AvgPool3D",
    .run = average_pools,
    .prepare = prepare_pool<pool_3d>,
};

} // namespace troupe::ops::avg_pool_3d_cpu
