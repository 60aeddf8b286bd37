// Normalization of channels over a batch, and its gradients. The versions differ in types and in
// the gradient's inputs.
#include "troupe/ops/norm/shared/batch_norm.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::fused_batch_norm_op {
namespace {

edges fused_batch_norm_gradient(gradient_context& at) {
  return batch_norm_gradient(at, "FusedBatchNormGrad");
}

edges fused_batch_norm_v2_gradient(gradient_context& at) {
  return batch_norm_gradient(at, "FusedBatchNormGradV2");
}

edges fused_batch_norm_v3_gradient(gradient_context& at) {
  return batch_norm_gradient(at, "FusedBatchNormGradV3");
}

} // namespace

extern constexpr op_def fused_batch_norm = batch_norm(
    {
        .name = "FusedBatchNorm",
        .doc = batch_norm_doc,
        .attrs = {{"T", one_of(dtype::f32, dtype::f64)},
                  {"epsilon", 1e-4},
                  {"exponential_avg_factor", 1.0},
                  {"data_format", "NHWC"},
                  {"is_training", true}},
        .gradient = fused_batch_norm_gradient,
        .example = R"(
x = f32{1,2,1,2}[1, 10, 3, 30]
scale = f32[1, 2]
offset = f32[0, 5]
y = FusedBatchNorm(x, scale, offset, f32[0, 0], f32[1, 1]) epsilon=0.001
z = FusedBatchNorm(x, scale, offset, f32[1, 10], f32[4, 100]) is_training=false epsilon=0.0
fetch y ~ 1e-3 = f32{1,2,1,2}[-0.9995, 3, 0.9995, 7]
fetch y:1 = f32[2, 20]
fetch y:2 = f32[2, 200]
fetch z = f32{1,2,1,2}[0, 5, 1, 9]
)",
    },
    "T", 2);

extern constexpr op_def fused_batch_norm_v2 = batch_norm(
    {
        .name = "FusedBatchNormV2",
        .doc = batch_norm_doc,
        .attrs = {{"T", floating},
                  {"U", one_of(dtype::f32, dtype::f64)},
                  {"epsilon", 1e-4},
                  {"exponential_avg_factor", 1.0},
                  {"data_format", "NHWC"},
                  {"is_training", true}},
        .gradient = fused_batch_norm_v2_gradient,
        .example = R"(
x = f32{1,2,1,2}[1, 10, 3, 30]
scale = f32[1, 2]
offset = f32[0, 5]
y = FusedBatchNormV2(x, scale, offset, f32[0, 0], f32[1, 1]) epsilon=0.001
z = FusedBatchNormV2(x, scale, offset, f32[1, 10], f32[4, 100]) is_training=false epsilon=0.0
fetch y ~ 1e-3 = f32{1,2,1,2}[-0.9995, 3, 0.9995, 7]
fetch y:1 = f32[2, 20]
fetch y:2 = f32[2, 200]
fetch z = f32{1,2,1,2}[0, 5, 1, 9]
)",
    },
    "U", 2);

extern constexpr op_def fused_batch_norm_v3 = batch_norm(
    {
        .name = "FusedBatchNormV3",
        .doc = batch_norm_doc,
        .attrs = {{"T", floating},
                  {"U", one_of(dtype::bf16, dtype::f32, dtype::f64)},
                  {"epsilon", 1e-4},
                  {"exponential_avg_factor", 1.0},
                  {"data_format", "NHWC"},
                  {"is_training", true}},
        .effects = effect::autocast_infer,
        .gradient = fused_batch_norm_v3_gradient,
        .example = R"(
x = f32{1,2,1,2}[1, 10, 3, 30]
scale = f32[1, 2]
offset = f32[0, 5]
y = FusedBatchNormV3(x, scale, offset, f32[0, 0], f32[1, 1]) epsilon=0.001
z = FusedBatchNormV3(x, scale, offset, f32[1, 10], f32[4, 100]) is_training=false epsilon=0.0
fetch y ~ 1e-3 = f32{1,2,1,2}[-0.9995, 3, 0.9995, 7]
fetch y:1 = f32[2, 20]
fetch y:2 = f32[2, 200]
fetch z = f32{1,2,1,2}[0, 5, 1, 9]
)",
    },
    "U", 3);

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

extern constexpr op_def fused_batch_norm_grad_v3 = batch_norm_gradient_form(
    {
        .name = "FusedBatchNormGradV3",
        .doc = batch_norm_gradient_doc,
        .attrs = {{"T", floating},
                  {"U", one_of(dtype::f32, dtype::f64)},
                  {"epsilon", 1e-4},
                  {"data_format", "NHWC"},
                  {"is_training", true}},
        .effects = effect::autocast_infer,
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

} // namespace troupe::ops::fused_batch_norm_op
