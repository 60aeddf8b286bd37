#include "troupe/ops/norm/shared/batch_norm.cpu.hpp"

namespace troupe::ops::fused_batch_norm_v3_cpu {

extern constexpr kernel_def fused_batch_norm_v3_cpu{
    .op = "FusedBatchNormV3",
    .run = batch_norms,
    .prepare = prepare_batch_norm,
};

} // namespace troupe::ops::fused_batch_norm_v3_cpu
