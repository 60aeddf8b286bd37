#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::sparse_apply_proximal_adagrad_cpu {

extern constexpr kernel_def sparse_apply_proximal_adagrad_cpu{
    .op = "SparseApplyProximalAdagrad",
    .run = apply_kernels<proximal_adagrad>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::sparse_apply_proximal_adagrad_cpu
