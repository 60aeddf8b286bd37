#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::sparse_apply_adagrad_cpu {

extern constexpr kernel_def sparse_apply_adagrad_cpu{
    .op = "SparseApplyAdagrad",
    .run = apply_kernels<adagrad>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::sparse_apply_adagrad_cpu
