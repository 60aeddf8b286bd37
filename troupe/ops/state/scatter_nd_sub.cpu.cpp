#include "troupe/ops/state/shared/scatter.cpu.hpp"

namespace troupe::ops::scatter_nd_sub_cpu {

extern constexpr kernel_def scatter_nd_sub_cpu{
    .op = "ScatterNdSub",
    .run = scatter_kernels<subtracting, plan_scatter_nd>(types::numbers),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_nd_sub_cpu
