// Max pooling with the positions of the maxima, and the gradients.
#include "troupe/ops/pool/shared/pooling.hpp"

namespace troupe::ops::max_pool_with_argmax_op {
namespace {

edges max_pool_with_argmax_gradient(gradient_context& at) {
  return {
      pool_like(at, "MaxPoolGradWithArgmax", {at.input(0), at.output_gradient(0), at.output(1)})};
}

edges max_pool_grad_with_argmax_gradient(gradient_context& at) {
  return {
      {},
      pool_like(at, "MaxPoolGradGradWithArgmax", {at.input(0), at.output_gradient(0), at.input(2)}),
      {}};
}

edges max_pool_grad_grad_with_argmax_gradient(gradient_context& at) {
  return {{},
          pool_like(at, "MaxPoolGradWithArgmax", {at.input(0), at.output_gradient(0), at.input(2)}),
          {}};
}

} // namespace

extern constexpr op_def max_pool_with_argmax{
    .name = "MaxPoolWithArgmax",
    .doc = "Gives the largest element of each window as MaxPool does, and its place.\n\n"
           "argmax counts elements from the first one of the image, or of all images with "
           "include_batch_in_index.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}, {"argmax", "Targmax"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"Targmax", index_types, dtype::i64},
              {"include_batch_in_index", false},
              {"T", real_numbers}},
    .infer = infer_pool<argmax_pool>,
    .gradient = max_pool_with_argmax_gradient,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
y = MaxPoolWithArgmax(x) ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch y = f32[[[[6], [5]]]]
fetch y:1 = i64[[[[3], [4]]]]
)",
};

extern constexpr op_def max_pool_grad_with_argmax{
    .name = "MaxPoolGradWithArgmax",
    .doc = "Adds each gradient to the place that argmax names for its window.",
    .inputs = {{"input", "T"}, {"grad", "T"}, {"argmax", "Targmax"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"Targmax", index_types},
              {"include_batch_in_index", false},
              {"T", real_numbers}},
    .infer = infer_pool_gradient<argmax_pool>,
    .gradient = max_pool_grad_with_argmax_gradient,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
where = i64[[[[3], [4]]]]
dx = MaxPoolGradWithArgmax(x, f32[[[[10], [20]]]], where) ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch dx = f32[[[[0], [0], [0]], [[10], [20], [0]]]]
)",
};

extern constexpr op_def max_pool_grad_grad_with_argmax{
    .name = "MaxPoolGradGradWithArgmax",
    .doc = "Gives the gradient at the place that argmax names for each window.",
    .inputs = {{"input", "T"}, {"grad", "T"}, {"argmax", "Targmax"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"Targmax", index_types},
              {"include_batch_in_index", false},
              {"T", real_numbers}},
    .infer = infer_pool_second_gradient<argmax_pool, 1>,
    .gradient = max_pool_grad_grad_with_argmax_gradient,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
where = i64[[[[3], [4]]]]
y = MaxPoolGradGradWithArgmax(x, x, where) ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch y = f32[[[[6], [5]]]]
)",
};

} // namespace troupe::ops::max_pool_with_argmax_op
