#include "troupe/ops/state/shared/scatter.cpu.hpp"

namespace troupe::ops::scatter_div_cpu {

extern constexpr kernel_def scatter_div_cpu{
    .op = "ScatterDiv",
    .run = scatter_kernels<divides, plan_scatter>(types::numbers),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_div_cpu
