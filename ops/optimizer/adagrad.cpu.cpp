#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::adagrad_cpu {

extern constexpr kernel_def apply_adagrad_cpu{
    .op = "ApplyAdagrad",
    .run = apply_kernels<adagrad>(),
    .prepare = keep_training,
};

extern constexpr kernel_def sparse_apply_adagrad_cpu{
    .op = "SparseApplyAdagrad",
    .run = apply_kernels<adagrad>(),
    .prepare = keep_training,
};

extern constexpr kernel_def apply_adagrad_da_cpu{
    .op = "ApplyAdagradDA",
    .run = apply_kernels<adagrad_da>(),
    .prepare = keep_training,
};

extern constexpr kernel_def sparse_apply_adagrad_da_cpu{
    .op = "SparseApplyAdagradDA",
    .run = apply_kernels<adagrad_da>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::adagrad_cpu
