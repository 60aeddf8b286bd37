// MaxPool3D: the largest element of each window of volumes.
#include "troupe/ops/pool/shared/pooling.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::max_pool_3d_op {
namespace {

edges gradient(gradient_context& at) {
  return {pool_like(at, "MaxPool3DGrad", {at.input(0), at.output(0), at.output_gradient(0)})};
}

} // namespace

extern constexpr op_def max_pool_3d{
    .name = "MaxPool3D",
    .doc = "Gives the largest element of each window, for each channel.\n\n"
           "Windows of ksize elements move by strides; both have one number for each axis, 1 "
           "for images and channels. Padding is SAME or VALID and holds no elements. A NaN "
           "is larger than all numbers.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"data_format", "NDHWC"},
              {"T", floating}},
    .effects = autocast_infer,
    .infer = infer_pool<pool_3d>,
    .gradient = gradient,
    .example = R"(
x = f32{1,1,2,3,1}[1, 2, 3, 6, 5, 4]
y = MaxPool3D(x) ksize=[1, 1, 2, 2, 1] strides=[1, 1, 1, 1, 1] padding="VALID"
fetch y = f32{1,1,1,2,1}[6, 5]
)",
};

} // namespace troupe::ops::max_pool_3d_op
