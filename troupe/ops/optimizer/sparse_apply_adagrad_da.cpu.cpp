#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::sparse_apply_adagrad_da_cpu {

extern constexpr kernel_def sparse_apply_adagrad_da_cpu{
    .op = "SparseApplyAdagradDA",
    .run = apply_kernels<adagrad_da>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::sparse_apply_adagrad_da_cpu
