// MaxPoolGradGrad: the gradient of MaxPoolGrad.
#include "troupe/ops/pool/shared/pooling.hpp"

namespace troupe::ops::max_pool_grad_grad_op {
namespace {

edges gradient(gradient_context& at) {
  return {{}, {}, pool_like(at, "MaxPoolGrad", {at.input(0), at.input(1), at.output_gradient(0)})};
}

} // namespace

extern constexpr op_def max_pool_grad_grad{
    .name = "MaxPoolGradGrad",
    .doc = "Gives the gradient at the largest element of each window, the first among equals.",
    .inputs = {{"orig_input", "T"}, {"orig_output", "T"}, {"grad", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"explicit_paddings", attr_kind::integers, true},
              {"data_format", "NHWC"},
              {"T", real_numbers}},
    .infer = infer_pool_second_gradient<max_pool_2d, 2>,
    .gradient = gradient,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
y = f32[[[[6], [5]]]]
g = f32[[[[10], [20], [30]], [[40], [50], [60]]]]
dy = MaxPoolGradGrad(x, y, g) ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch dy = f32[[[[40], [50]]]]
)",
};

} // namespace troupe::ops::max_pool_grad_grad_op
