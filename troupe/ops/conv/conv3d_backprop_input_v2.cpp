// Conv3DBackpropInputV2: the gradient of Conv3D with respect to its input.
#include "troupe/ops/conv/shared/convolution.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::conv3d_backprop_input_v2_op {
namespace {

using functions = convolution_functions<convolution_family::plain_3d, convolution_role::input>;

} // namespace

extern constexpr op_def conv3d_backprop_input_v2{
    .name = "Conv3DBackpropInputV2",
    .doc = "Computes the gradient of Conv3D with respect to its input, which has the shape "
           "input_sizes.",
    .inputs = {on_host("input_sizes", "Tshape"), {"filter", "T"}, {"out_backprop", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"data_format", "NDHWC"},
              {"dilations", attr_kind::integers, true},
              {"Tshape", index_types, dtype::i32}},
    .effects = autocast_allow,
    .infer = functions::infer,
    .gradient = functions::gradient,
    .flops = functions::flops,
    .example = R"(
w = f32{2,1,1,1,1}[1, 10]
dy = f32{1,1,2,2,1}[1, 2, 3, 4]
dx = Conv3DBackpropInputV2(i32[1, 2, 2, 2, 1], w, dy) strides=[1, 1, 1, 1, 1] padding="VALID"
fetch dx = f32{1,2,2,2,1}[1, 2, 3, 4, 10, 20, 30, 40]
)",
};

} // namespace troupe::ops::conv3d_backprop_input_v2_op
