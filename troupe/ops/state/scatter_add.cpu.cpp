#include "troupe/ops/state/shared/scatter.cpu.hpp"

namespace troupe::ops::scatter_add_cpu {

extern constexpr kernel_def scatter_add_cpu{
    .op = "ScatterAdd",
    .run = scatter_kernels<adding, plan_scatter>(types::numbers),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_add_cpu
