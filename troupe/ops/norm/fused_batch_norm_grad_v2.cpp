// FusedBatchNormGradV2: the gradient of FusedBatchNormV2.
#include "troupe/ops/norm/shared/batch_norm.hpp"

namespace troupe::ops::fused_batch_norm_grad_v2_op {

extern constexpr op_def fused_batch_norm_grad_v2 = batch_norm_gradient_form(
    {
        .name = "FusedBatchNormGradV2",
        .doc = batch_norm_gradient_doc,
        .attrs = {{"T", floating},
                  {"U", one_of(dtype::f32, dtype::f64)},
                  {"epsilon", 1e-4},
                  {"data_format", "NHWC"},
                  {"is_training", true}},
        .example = R"(
x = f32{1,2,1,2}[1, 10, 3, 30]
dy = f32{1,2,1,2}[1, 2, 3, 5]
g = FusedBatchNormGradV2(dy, x, f32[1, 2], f32[2, 20], f32[1, 100]) epsilon=1.0
h = FusedBatchNormGradV2(dy, x, f32[1, 2], f32[2, 20], f32[4, 400]) epsilon=0.0 is_training=false
fetch g ~ 1e-4 = f32{1,2,1,2}[-0.353553, -0.002956, 0.353553, 0.002956]
fetch g:1 ~ 1e-4 = f32[1.414214, 2.985112]
fetch g:2 = f32[4, 7]
fetch h = f32{1,2,1,2}[0.5, 0.2, 1.5, 0.5]
)",
    },
    "f32", "U", 2);

} // namespace troupe::ops::fused_batch_norm_grad_v2_op
