#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::apply_proximal_adagrad_cpu {

extern constexpr kernel_def apply_proximal_adagrad_cpu{
    .op = "ApplyProximalAdagrad",
    .run = apply_kernels<proximal_adagrad>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_proximal_adagrad_cpu
