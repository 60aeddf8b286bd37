// FusedBatchNormGradV3: the gradient of FusedBatchNormV3.
#include "troupe/ops/nn/batch_norm.hpp"

namespace troupe::ops {

extern constexpr op_def fused_batch_norm_grad_v3{
    .name = "FusedBatchNormGradV3",
    .doc = batch_norm_gradient_doc,
    .inputs = {{"y_backprop", "T"},
               {"x", "T"},
               {"scale", "f32"},
               {"reserve_space_1", "U"},
               {"reserve_space_2", "U"},
               {"reserve_space_3", "U"}},
    .outputs = {{"x_backprop", "T"},
                {"scale_backprop", "U"},
                {"offset_backprop", "U"},
                {"reserve_space_4", "U"},
                {"reserve_space_5", "U"}},
    .attrs = {{"T", floating},
              {"U", one_of(dtype::f32, dtype::f64)},
              {"epsilon", 1e-4},
              {"data_format", "NHWC"},
              {"is_training", true}},
    .infer = infer_batch_norm_gradient,
    .gradient = batch_norm_second_gradient,
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
};

} // namespace troupe::ops
