#include "troupe/ops/norm/shared/batch_norm.cpu.hpp"

namespace troupe::ops::fused_batch_norm_grad_v3_cpu {

extern constexpr kernel_def fused_batch_norm_grad_v3_cpu{
    .op = "FusedBatchNormGradV3",
    .run = batch_norm_gradients,
    .prepare = prepare_batch_norm,
};

} // namespace troupe::ops::fused_batch_norm_grad_v3_cpu
