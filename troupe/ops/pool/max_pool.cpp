// MaxPool: the largest element of each window.
#include "troupe/ops/pool/shared/pooling.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::max_pool_op {
namespace {

edges gradient(gradient_context& at) {
  return {pool_like(at, "MaxPoolGrad", {at.input(0), at.output(0), at.output_gradient(0)})};
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
    .effects = autocast_infer,
    .infer = infer_pool<max_pool_2d>,
    .gradient = gradient,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
y = MaxPool(x) ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch y = f32[[[[6], [5]]]]
)",
};

} // namespace troupe::ops::max_pool_op
