// MaxPoolWithArgmax: the largest element of each window, and where it is.
#include "troupe/ops/pool/shared/pooling.hpp"

namespace troupe::ops::max_pool_with_argmax_op {
namespace {

edges gradient(gradient_context& at) {
  return {
      pool_like(at, "MaxPoolGradWithArgmax", {at.input(0), at.output_gradient(0), at.output(1)})};
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
    .gradient = gradient,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
y = MaxPoolWithArgmax(x) ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch y = f32[[[[6], [5]]]]
fetch y:1 = i64[[[[3], [4]]]]
)",
};

} // namespace troupe::ops::max_pool_with_argmax_op
