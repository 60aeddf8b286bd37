// FusedBatchNormV3: normalizes each channel over a batch.
#include "troupe/ops/norm/shared/batch_norm.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::fused_batch_norm_v3_op {
namespace {

edges gradient(gradient_context& at) { return batch_norm_gradient(at, "FusedBatchNormGradV3"); }

} // namespace

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
        .effects = autocast_infer,
        .gradient = gradient,
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

} // namespace troupe::ops::fused_batch_norm_v3_op
