// AvgPool3DGrad: the gradient of AvgPool3D.
#include "troupe/ops/pool/shared/pooling.hpp"

namespace troupe::ops::avg_pool_3d_grad_op {
namespace {

edges gradient(gradient_context& at) {
  return {{}, pool_like(at, "AvgPool3D", {at.output_gradient(0)})};
}

} // namespace

extern constexpr op_def avg_pool_3d_grad{
    .name = "AvgPool3DGrad",
    .doc = "Shares each gradient evenly among the elements of its window.",
    .inputs = {on_host("orig_input_shape", "i32"), {"grad", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"data_format", "NDHWC"},
              {"T", floating}},
    .infer = infer_average_gradient<pool_3d>,
    .gradient = gradient,
    .example = R"(
dx = AvgPool3DGrad(i32[1, 1, 2, 3, 1], f32{1,1,1,2,1}[4, 8]) ksize=[1, 1, 2, 2, 1] strides=[1, 1, 1, 1, 1] padding="VALID"
fetch dx = f32{1,1,2,3,1}[1, 3, 2, 1, 3, 2]
)",
};

} // namespace troupe::ops::avg_pool_3d_grad_op
