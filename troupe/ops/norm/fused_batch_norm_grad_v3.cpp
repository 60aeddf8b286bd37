// FusedBatchNormGradV3: the gradient of FusedBatchNormV3.
#include "troupe/ops/norm/shared/batch_norm.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::fused_batch_norm_grad_v3_op {

extern constexpr op_def fused_batch_norm_grad_v3 = batch_norm_gradient_form(
    {
        .name = "FusedBatchNormGradV3",
        .doc = batch_norm_gradient_doc,
        .attrs = {{"T", floating},
                  {"U", one_of(dtype::f32, dtype::f64)},
                  {"epsilon", 1e-4},
                  {"data_format", "NHWC"},
                  {"is_training", true}},
        .effects = autocast_infer,
        .example = R"(
x = f32{1,2,1,2}[1, 10, 3, 30]
dy = f32{1,2,1,2}[1, 2, 3, 5]
g = FusedBatchNormGradV3(dy, x, f32[1, 2], f32[2, 20], f32[1, 100], f32(0)) epsilon=1.0
h = FusedBatchNormGradV3(dy, x, f32[1, 2], f32[2, 20], f32[4, 400], f32(0)) epsilon=0.0 is_training=false
fetch g ~ 1e-4 = f32{1,2,1,2}[-0.353553, -0.002956, 0.353553, 0.002956]
fetch g:1 ~ 1e-4 = f32[1.414214, 2.985112]
fetch g:2 = f32[4, 7]
fetch h = f32{1,2,1,2}[0.5, 0.2, 1.5, 0.5]
)",
    },
    "f32", "U", 3);

} // namespace troupe::ops::fused_batch_norm_grad_v3_op
