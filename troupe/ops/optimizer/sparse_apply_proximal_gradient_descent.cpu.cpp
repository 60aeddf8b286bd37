#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::sparse_apply_proximal_gradient_descent_cpu {

extern constexpr kernel_def sparse_apply_proximal_gradient_descent_cpu{
    .op = "SparseApplyProximalGradientDescent",
    .run = apply_kernels<proximal_gradient_descent>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::sparse_apply_proximal_gradient_descent_cpu
