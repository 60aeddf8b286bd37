#include "troupe/ops/state/shared/scatter.cpu.hpp"

namespace troupe::ops::scatter_nd_add_cpu {

extern constexpr kernel_def scatter_nd_add_cpu{
    .op = "ScatterNdAdd",
    .run = scatter_kernels<adding, plan_scatter_nd>(types::numbers),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_nd_add_cpu
