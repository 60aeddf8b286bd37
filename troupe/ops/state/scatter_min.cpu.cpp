#include "troupe/ops/state/shared/scatter.cpu.hpp"

namespace troupe::ops::scatter_min_cpu {

extern constexpr kernel_def scatter_min_cpu{
    .op = "ScatterMin",
    .run = scatter_kernels<smaller, plan_scatter>(scatter_order),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_min_cpu
