#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::proximal_cpu {

extern constexpr kernel_def apply_proximal_gradient_descent_cpu{
    .op = "ApplyProximalGradientDescent",
    .run = apply_kernels<proximal_gradient_descent>(),
    .prepare = keep_training,
};

extern constexpr kernel_def sparse_apply_proximal_gradient_descent_cpu{
    .op = "SparseApplyProximalGradientDescent",
    .run = apply_kernels<proximal_gradient_descent>(),
    .prepare = keep_training,
};

extern constexpr kernel_def apply_proximal_adagrad_cpu{
    .op = "ApplyProximalAdagrad",
    .run = apply_kernels<proximal_adagrad>(),
    .prepare = keep_training,
};

extern constexpr kernel_def sparse_apply_proximal_adagrad_cpu{
    .op = "SparseApplyProximalAdagrad",
    .run = apply_kernels<proximal_adagrad>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::proximal_cpu
