#include "troupe/ops/norm/shared/batch_norm.cpu.hpp"

namespace troupe::ops::fused_batch_norm_grad_cpu {

extern constexpr kernel_def fused_batch_norm_grad_cpu{
    .op = "FusedBatchNormGrad",
    .run = {{dtype::f32, batch_norm_gradient<float>}, {dtype::f64, batch_norm_gradient<double>}},
    .prepare = prepare_batch_norm,
};

} // namespace troupe::ops::fused_batch_norm_grad_cpu
