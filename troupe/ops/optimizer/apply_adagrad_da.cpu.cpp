#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::apply_adagrad_da_cpu {

extern constexpr kernel_def apply_adagrad_da_cpu{
    .op = "ApplyAdagradDA",
    .run = apply_kernels<adagrad_da>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_adagrad_da_cpu
