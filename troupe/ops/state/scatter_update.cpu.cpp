#include "troupe/ops/state/shared/scatter.cpu.hpp"

namespace troupe::ops::scatter_update_cpu {

extern constexpr kernel_def scatter_update_cpu{
    .op = "ScatterUpdate",
    .run = {{dtype::none, scatter_over<plan_scatter>}},
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_update_cpu
