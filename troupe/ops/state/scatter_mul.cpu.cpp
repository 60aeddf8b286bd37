#include "troupe/ops/state/shared/scatter.cpu.hpp"

namespace troupe::ops::scatter_mul_cpu {

extern constexpr kernel_def scatter_mul_cpu{
    .op = "ScatterMul",
    .run = scatter_kernels<multiplying, plan_scatter>(types::numbers),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_mul_cpu
