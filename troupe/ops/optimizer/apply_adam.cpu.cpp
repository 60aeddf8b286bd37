#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::apply_adam_cpu {

extern constexpr kernel_def apply_adam_cpu{
    .op = "ApplyAdam",
    .run = apply_kernels<adam>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_adam_cpu
