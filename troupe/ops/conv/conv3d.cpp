// Conv3D: volumes seen through a filter.
#include "troupe/ops/conv/shared/convolution.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::conv3d_op {
namespace {

using functions = convolution_functions<convolution_family::plain_3d, convolution_role::output>;

} // namespace

extern constexpr op_def conv3d{
    .name = "Conv3D",
    .doc = "Computes a 3-D convolution with a filter [depth, rows, columns, inputs, outputs].\n\n"
           "The input is [images, depth, rows, columns, channels], or has the channels before the "
           "depth with data_format \"NCDHW\". Padding, strides and dilations are as for Conv2D.",
    .inputs = {{"input", "T"}, {"filter", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"data_format", "NDHWC"},
              {"dilations", attr_kind::integers, true}},
    .effects = autocast_allow,
    .infer = functions::infer,
    .gradient = functions::gradient,
    .flops = functions::flops,
    .example = R"(
x = f32{1,2,2,2,1}[1, 2, 3, 4, 5, 6, 7, 8]
w = f32{2,1,1,1,1}[1, 10]
y = Conv3D(x, w) strides=[1, 1, 1, 1, 1] padding="VALID"
fetch y = f32{1,1,2,2,1}[51, 62, 73, 84]
)",
};

} // namespace troupe::ops::conv3d_op
