// MaxPoolGradGradWithArgmax: the gradient of MaxPoolGradWithArgmax.
#include "troupe/ops/pool/shared/pooling.hpp"

namespace troupe::ops::max_pool_grad_grad_with_argmax_op {
namespace {

edges gradient(gradient_context& at) {
  return {{},
          pool_like(at, "MaxPoolGradWithArgmax", {at.input(0), at.output_gradient(0), at.input(2)}),
          {}};
}

} // namespace

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
    .gradient = gradient,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
where = i64[[[[3], [4]]]]
y = MaxPoolGradGradWithArgmax(x, x, where) ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch y = f32[[[[6], [5]]]]
)",
};

} // namespace troupe::ops::max_pool_grad_grad_with_argmax_op
