#include "troupe/ops/optimizer/shared/apply.cpu.hpp"
#include "troupe/ops/optimizer/shared/keras_rules.hpp"

namespace troupe::ops::keras_updates_cpu {

extern constexpr kernel_def apply_adagrad_v2_cpu{
    .op = "ApplyAdagradV2",
    .run = apply_kernels<adagrad_v2>(),
    .prepare = keep_training,
};

extern constexpr kernel_def sparse_apply_adagrad_v2_cpu{
    .op = "SparseApplyAdagradV2",
    .run = apply_kernels<adagrad_v2>(),
    .prepare = keep_training,
};

extern constexpr kernel_def resource_apply_keras_momentum_cpu{
    .op = "ResourceApplyKerasMomentum",
    .run = apply_kernels<keras_momentum>(),
    .prepare = keep_training,
};

extern constexpr kernel_def resource_sparse_apply_keras_momentum_cpu{
    .op = "ResourceSparseApplyKerasMomentum",
    .run = apply_kernels<keras_momentum>(),
    .prepare = keep_training,
};

extern constexpr kernel_def resource_apply_adam_with_amsgrad_cpu{
    .op = "ResourceApplyAdamWithAmsgrad",
    .run = apply_kernels<amsgrad>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::keras_updates_cpu
