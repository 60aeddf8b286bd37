// MaxPoolGradWithArgmax: the gradient of MaxPoolWithArgmax.
#include "troupe/ops/pool/shared/pooling.hpp"

namespace troupe::ops::max_pool_grad_with_argmax_op {
namespace {

edges gradient(gradient_context& at) {
  return {
      {},
      pool_like(at, "MaxPoolGradGradWithArgmax", {at.input(0), at.output_gradient(0), at.input(2)}),
      {}};
}

} // namespace

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
    .gradient = gradient,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
where = i64[[[[3], [4]]]]
dx = MaxPoolGradWithArgmax(x, f32[[[[10], [20]]]], where) ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch dx = f32[[[[0], [0], [0]], [[10], [20], [0]]]]
)",
};

} // namespace troupe::ops::max_pool_grad_with_argmax_op
