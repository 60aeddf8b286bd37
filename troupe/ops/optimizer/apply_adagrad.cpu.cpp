#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::apply_adagrad_cpu {

extern constexpr kernel_def apply_adagrad_cpu{
    .op = "ApplyAdagrad",
    .run = apply_kernels<adagrad>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_adagrad_cpu
