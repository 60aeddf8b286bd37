#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::apply_proximal_gradient_descent_cpu {

extern constexpr kernel_def apply_proximal_gradient_descent_cpu{
    .op = "ApplyProximalGradientDescent",
    .run = apply_kernels<proximal_gradient_descent>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_proximal_gradient_descent_cpu
