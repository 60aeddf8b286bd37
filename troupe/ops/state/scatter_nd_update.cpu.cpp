#include "troupe/ops/state/shared/scatter.cpu.hpp"

namespace troupe::ops::scatter_nd_update_cpu {

extern constexpr kernel_def scatter_nd_update_cpu{
    .op = "ScatterNdUpdate",
    .run = {{dtype::none, scatter_over<plan_scatter_nd>}},
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_nd_update_cpu
