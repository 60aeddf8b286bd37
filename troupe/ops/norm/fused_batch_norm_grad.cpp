// FusedBatchNormGrad: the gradient of FusedBatchNorm.
#include "troupe/ops/norm/shared/batch_norm.hpp"

namespace troupe::ops::fused_batch_norm_grad_op {

extern constexpr op_def fused_batch_norm_grad = batch_norm_gradient_form(
    {
        .name = "FusedBatchNormGrad",
        .doc = batch_norm_gradient_doc,
        .attrs = {{"T", one_of(dtype::f32, dtype::f64)},
                  {"epsilon", 1e-4},
                  {"data_format", "NHWC"},
                  {"is_training", true}},
        .example = R"(
x = f32{1,2,1,2}[1, 10, 3, 30]
dy = f32{1,2,1,2}[1, 2, 3, 5]
g = FusedBatchNormGrad(dy, x, f32[1, 2], f32[2, 20], f32[1, 100]) epsilon=1.0
h = FusedBatchNormGrad(dy, x, f32[1, 2], f32[2, 20], f32[4, 400]) epsilon=0.0 is_training=false
fetch g ~ 1e-4 = f32{1,2,1,2}[-0.353553, -0.002956, 0.353553, 0.002956]
fetch g:1 ~ 1e-4 = f32[1.414214, 2.985112]
fetch g:2 = f32[4, 7]
fetch h = f32{1,2,1,2}[0.5, 0.2, 1.5, 0.5]
)",
    },
    "T", "T", 2);

} // namespace troupe::ops::fused_batch_norm_grad_op
