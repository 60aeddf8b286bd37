// AvgPool3D: the mean of each window.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/pool/shared/pooling.hpp"

namespace troupe::ops::avg_pool_3d_op {
namespace {

edges gradient(gradient_context& at) {
  return {pool_like(at, "AvgPool3DGrad",
                    {cast_to(shape_of(at.input(0)), dtype::i32), at.output_gradient(0)})};
}

} // namespace

extern constexpr op_def avg_pool_3d{
    .name = "AvgPool3D",
    .doc = "Gives the mean of the elements of each window, for each channel.\n\n"
           "Windows of ksize elements move by strides; both have one number for each axis, 1 for "
           "images and channels. Padding is SAME or VALID and counts for nothing.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"data_format", "NDHWC"},
              {"T", floating}},
    .infer = infer_pool<pool_3d>,
    .gradient = gradient,
    .example = R"(
x = f32{1,1,2,3,1}[1, 2, 3, 6, 5, 4]
y = AvgPool3D(x) ksize=[1, 1, 2, 2, 1] strides=[1, 1, 1, 1, 1] padding="VALID"
fetch y = f32{1,1,1,2,1}[3.5, 3.5]
)",
};

} // namespace troupe::ops::avg_pool_3d_op
