#include "troupe/ops/state/shared/scatter.cpu.hpp"

namespace troupe::ops::scatter_cpu {

extern constexpr kernel_def scatter_add_cpu{
    .op = "ScatterAdd",
    .run = scatter_kernels<adding, plan_scatter>(types::numbers),
    .prepare = keep_scatter,
};

extern constexpr kernel_def scatter_sub_cpu{
    .op = "ScatterSub",
    .run = scatter_kernels<subtracting, plan_scatter>(types::numbers),
    .prepare = keep_scatter,
};

extern constexpr kernel_def scatter_mul_cpu{
    .op = "ScatterMul",
    .run = scatter_kernels<multiplying, plan_scatter>(types::numbers),
    .prepare = keep_scatter,
};

extern constexpr kernel_def scatter_div_cpu{
    .op = "ScatterDiv",
    .run = scatter_kernels<divides, plan_scatter>(types::numbers),
    .prepare = keep_scatter,
};

extern constexpr kernel_def scatter_max_cpu{
    .op = "ScatterMax",
    .run = scatter_kernels<larger, plan_scatter>(scatter_order),
    .prepare = keep_scatter,
};

extern constexpr kernel_def scatter_min_cpu{
    .op = "ScatterMin",
    .run = scatter_kernels<smaller, plan_scatter>(scatter_order),
    .prepare = keep_scatter,
};

extern constexpr kernel_def scatter_update_cpu{
    .op = "ScatterUpdate",
    .run = {{dtype::none, scatter_over<plan_scatter>}},
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_cpu
