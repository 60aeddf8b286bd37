#include "troupe/ops/state/shared/scatter.cpu.hpp"

namespace troupe::ops::scatter_sub_cpu {

extern constexpr kernel_def scatter_sub_cpu{
    .op = "ScatterSub",
    .run = scatter_kernels<subtracting, plan_scatter>(types::numbers),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_sub_cpu
