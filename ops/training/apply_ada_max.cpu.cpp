#include "troupe/ops/training/apply.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def apply_ada_max_cpu{
    .op = "ApplyAdaMax",
    .run = apply_kernels<ada_max>(),
    .prepare = keep_training,
};

} // namespace troupe::ops
