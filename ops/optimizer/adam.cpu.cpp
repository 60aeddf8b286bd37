#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::adam_cpu {

extern constexpr kernel_def apply_adam_cpu{
    .op = "ApplyAdam",
    .run = apply_kernels<adam>(),
    .prepare = keep_training,
};

extern constexpr kernel_def apply_ada_max_cpu{
    .op = "ApplyAdaMax",
    .run = apply_kernels<ada_max>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::adam_cpu
