#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::apply_momentum_cpu {

extern constexpr kernel_def apply_momentum_cpu{
    .op = "ApplyMomentum",
    .run = apply_kernels<momentum>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_momentum_cpu
