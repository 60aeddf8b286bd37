#include "troupe/ops/optimizer/shared/ftrl.cpu.hpp"

namespace troupe::ops::sparse_apply_ftrl_cpu {

extern constexpr kernel_def sparse_apply_ftrl_cpu{
    .op = "SparseApplyFtrl",
    .run = ftrl_kernels<false>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::sparse_apply_ftrl_cpu
