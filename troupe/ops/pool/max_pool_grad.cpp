// MaxPoolGrad: the gradient of MaxPool.
#include "troupe/ops/pool/shared/pooling.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::max_pool_grad_op {
namespace {

edges gradient(gradient_context& at) {
  return {
      {}, {}, pool_like(at, "MaxPoolGradGrad", {at.input(0), at.input(1), at.output_gradient(0)})};
}

} // namespace

extern constexpr op_def max_pool_grad{
    .name = "MaxPoolGrad",
    .doc = "Gives each gradient to the largest element of its window, the first among equals, and "
           "adds up what comes to one element.",
    .inputs = {{"orig_input", "T"}, {"orig_output", "T"}, {"grad", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"explicit_paddings", attr_kind::integers, true},
              {"data_format", "NHWC"},
              {"T", real_numbers, dtype::f32}},
    .effects = autocast_infer,
    .infer = infer_pool_gradient<max_pool_2d>,
    .gradient = gradient,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
y = f32[[[[6], [5]]]]
dx = MaxPoolGrad(x, y, f32[[[[10], [20]]]]) ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch dx = f32[[[[0], [0], [0]], [[10], [20], [0]]]]
)",
};

} // namespace troupe::ops::max_pool_grad_op
