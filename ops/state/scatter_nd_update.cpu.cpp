#include "troupe/ops/state/shared/scatter.cpu.hpp"

namespace troupe::ops::scatter_nd_update_cpu {

extern constexpr kernel_def scatter_nd_add_cpu{
    .op = "ScatterNdAdd",
    .run = scatter_kernels<adding, plan_scatter_nd>(types::numbers),
    .prepare = keep_scatter,
};

extern constexpr kernel_def scatter_nd_sub_cpu{
    .op = "ScatterNdSub",
    .run = scatter_kernels<subtracting, plan_scatter_nd>(types::numbers),
    .prepare = keep_scatter,
};

extern constexpr kernel_def scatter_nd_update_cpu{
    .op = "ScatterNdUpdate",
    .run = {{dtype::none, scatter_over<plan_scatter_nd>}},
    .prepare = keep_scatter,
};

extern constexpr kernel_def scatter_nd_max_cpu{
    .op = "ScatterNdMax",
    .run = scatter_kernels<larger, plan_scatter_nd>(scatter_order),
    .prepare = keep_scatter,
};

extern constexpr kernel_def scatter_nd_min_cpu{
    .op = "ScatterNdMin",
    .run = scatter_kernels<smaller, plan_scatter_nd>(scatter_order),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_nd_update_cpu
