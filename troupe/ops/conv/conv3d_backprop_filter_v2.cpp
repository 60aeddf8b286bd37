// Conv3DBackpropFilterV2: the gradient of Conv3D with respect to its filter.
#include "troupe/ops/conv/shared/convolution.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::conv3d_backprop_filter_v2_op {
namespace {

using functions = convolution_functions<convolution_family::plain_3d, convolution_role::filter>;

} // namespace

extern constexpr op_def conv3d_backprop_filter_v2{
    .name = "Conv3DBackpropFilterV2",
    .doc = "Computes the gradient of Conv3D with respect to its filter, which has the shape "
           "filter_sizes.",
    .inputs = {{"input", "T"}, on_host("filter_sizes", "i32"), {"out_backprop", "T"}},
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
dy = f32{1,1,2,2,1}[1, 2, 3, 4]
dw = Conv3DBackpropFilterV2(x, i32[2, 1, 1, 1, 1], dy) strides=[1, 1, 1, 1, 1] padding="VALID"
fetch dw = f32{2,1,1,1,1}[30, 70]
)",
};

} // namespace troupe::ops::conv3d_backprop_filter_v2_op
