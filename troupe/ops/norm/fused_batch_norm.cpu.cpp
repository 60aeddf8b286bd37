#include "troupe/ops/norm/shared/batch_norm.cpu.hpp"

namespace troupe::ops::fused_batch_norm_cpu {

extern constexpr kernel_def fused_batch_norm_cpu{
    .op = "FusedBatchNorm",
    .run = {{dtype::f32, batch_norm<float>}, {dtype::f64, batch_norm<double>}},
    .prepare = prepare_batch_norm,
};

} // namespace troupe::ops::fused_batch_norm_cpu
