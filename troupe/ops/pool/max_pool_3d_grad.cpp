// MaxPool3DGrad: the gradient of MaxPool3D.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/pool/shared/pooling.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::max_pool_3d_grad_op {
namespace {

edges gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  return {{},
          {},
          pool_like(at, "MaxPool3DGradGrad",
                    {cast_to(at.input(0), dy.type()), cast_to(at.input(1), dy.type()), dy})};
}

} // namespace

extern constexpr op_def max_pool_3d_grad{
    .name = "MaxPool3DGrad",
    .doc = "Gives each gradient to the largest element of its window, the first among equals, and "
           "adds up what comes to one element.",
    .inputs = {{"orig_input", "TInput"}, {"orig_output", "TInput"}, {"grad", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"data_format", "NDHWC"},
              {"T", floating, dtype::f32},
              {"TInput", floating, dtype::f32}},
    .effects = autocast_infer,
    .infer = infer_pool_gradient<pool_3d>,
    .gradient = gradient,
    .example = R"(
x = f32{1,1,2,3,1}[1, 2, 3, 6, 5, 4]
y = f32{1,1,1,2,1}[6, 5]
dx = MaxPool3DGrad(x, y, f32{1,1,1,2,1}[10, 20]) ksize=[1, 1, 2, 2, 1] strides=[1, 1, 1, 1, 1] padding="VALID"
fetch dx = f32{1,1,2,3,1}[0, 0, 0, 10, 20, 0]
)",
};

} // namespace troupe::ops::max_pool_3d_grad_op
