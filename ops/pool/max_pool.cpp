// Max pooling of images, and the gradients.
#include "troupe/ops/pool/shared/pooling.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::max_pool_op {
namespace {

edges max_pool_gradient(gradient_context& at) {
  return {pool_like(at, "MaxPoolGrad", {at.input(0), at.output(0), at.output_gradient(0)})};
}

edges max_pool_grad_gradient(gradient_context& at) {
  return {
      {}, {}, pool_like(at, "MaxPoolGradGrad", {at.input(0), at.input(1), at.output_gradient(0)})};
}

edges max_pool_grad_grad_gradient(gradient_context& at) {
  return {{}, {}, pool_like(at, "MaxPoolGrad", {at.input(0), at.input(1), at.output_gradient(0)})};
}

} // namespace

extern constexpr op_def max_pool{
    .name = "MaxPool",
    .doc = "Gives the largest element of each window, for each channel.\n\n"
           "Windows of ksize elements move by strides; both have one number for each axis, 1 "
           "for images and channels. Padding is SAME, VALID or EXPLICIT (see Conv2D) and "
           "holds no elements. A NaN is larger than all numbers.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"explicit_paddings", attr_kind::integers, true},
              {"data_format", "NHWC"},
              {"T", max_pool_types_allowed, dtype::f32}},
    .effects = effect::autocast_infer,
    .infer = infer_pool<max_pool_2d>,
    .gradient = max_pool_gradient,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
y = MaxPool(x) ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch y = f32[[[[6], [5]]]]
)",
};

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
    .effects = effect::autocast_infer,
    .infer = infer_pool_gradient<max_pool_2d>,
    .gradient = max_pool_grad_gradient,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
y = f32[[[[6], [5]]]]
dx = MaxPoolGrad(x, y, f32[[[[10], [20]]]]) ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch dx = f32[[[[0], [0], [0]], [[10], [20], [0]]]]
)",
};

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
    .gradient = max_pool_grad_grad_gradient,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
y = f32[[[[6], [5]]]]
g = f32[[[[10], [20], [30]], [[40], [50], [60]]]]
dy = MaxPoolGradGrad(x, y, g) ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch dy = f32[[[[40], [50]]]]
)",
};

} // namespace troupe::ops::max_pool_op
