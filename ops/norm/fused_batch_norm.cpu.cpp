#include "troupe/ops/norm/shared/batch_norm.cpu.hpp"

namespace troupe::ops::fused_batch_norm_cpu {

extern constexpr kernel_def fused_batch_norm_cpu{
    .op = "FusedBatchNorm",
    .run = {{dtype::f32, batch_norm<float>}, {dtype::f64, batch_norm<double>}},
    .prepare = prepare_batch_norm,
};

extern constexpr kernel_def fused_batch_norm_v2_cpu{
    .op = "FusedBatchNormV2",
    .run = batch_norms,
    .prepare = prepare_batch_norm,
};

extern constexpr kernel_def fused_batch_norm_v3_cpu{
    .op = "FusedBatchNormV3",
    .run = batch_norms,
    .prepare = prepare_batch_norm,
};

extern constexpr kernel_def fused_batch_norm_grad_cpu{
    .op = "FusedBatchNormGrad",
    .run = {{dtype::f32, batch_norm_gradient<float>}, {dtype::f64, batch_norm_gradient<double>}},
    .prepare = prepare_batch_norm,
};

extern constexpr kernel_def fused_batch_norm_grad_v2_cpu{
    .op = "FusedBatchNormGradV2",
    .run = batch_norm_gradients,
    .prepare = prepare_batch_norm,
};

extern constexpr kernel_def fused_batch_norm_grad_v3_cpu{
    .op = "FusedBatchNormGradV3",
    .run = batch_norm_gradients,
    .prepare = prepare_batch_norm,
};

} // namespace troupe::ops::fused_batch_norm_cpu
