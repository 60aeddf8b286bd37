#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::apply_add_sign_cpu {

extern constexpr kernel_def apply_add_sign_cpu{
    .op = "ApplyAddSign",
    .run = apply_kernels<add_sign>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_add_sign_cpu
