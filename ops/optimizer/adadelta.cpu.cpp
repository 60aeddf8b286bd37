#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::adadelta_cpu {

extern constexpr kernel_def apply_adadelta_cpu{
    .op = "ApplyAdadelta",
    .run = apply_kernels<adadelta>(),
    .prepare = keep_training,
};

extern constexpr kernel_def sparse_apply_adadelta_cpu{
    .op = "SparseApplyAdadelta",
    .run = apply_kernels<adadelta>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::adadelta_cpu
