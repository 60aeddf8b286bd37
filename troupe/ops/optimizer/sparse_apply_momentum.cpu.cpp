#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::sparse_apply_momentum_cpu {

extern constexpr kernel_def sparse_apply_momentum_cpu{
    .op = "SparseApplyMomentum",
    .run = apply_kernels<momentum>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::sparse_apply_momentum_cpu
