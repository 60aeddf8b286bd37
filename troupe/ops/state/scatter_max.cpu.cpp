#include "troupe/ops/state/shared/scatter.cpu.hpp"

namespace troupe::ops::scatter_max_cpu {

extern constexpr kernel_def scatter_max_cpu{
    .op = "ScatterMax",
    .run = scatter_kernels<larger, plan_scatter>(scatter_order),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_max_cpu
