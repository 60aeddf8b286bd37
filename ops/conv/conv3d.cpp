// Convolution of volumes, and its gradients.
#include "troupe/ops/conv/shared/convolution.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::conv3d_op {
namespace {

using conv3d_functions =
    convolution_functions<convolution_family::plain_3d, convolution_role::output>;
using conv3d_backprop_filter_v2_functions =
    convolution_functions<convolution_family::plain_3d, convolution_role::filter>;
using conv3d_backprop_input_v2_functions =
    convolution_functions<convolution_family::plain_3d, convolution_role::input>;

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
    .effects = effect::autocast_allow,
    .infer = conv3d_functions::infer,
    .gradient = conv3d_functions::gradient,
    .flops = conv3d_functions::flops,
    .example = R"(
x = f32{1,2,2,2,1}[1, 2, 3, 4, 5, 6, 7, 8]
w = f32{2,1,1,1,1}[1, 10]
y = Conv3D(x, w) strides=[1, 1, 1, 1, 1] padding="VALID"
fetch y = f32{1,1,2,2,1}[51, 62, 73, 84]
)",
};

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
    .effects = effect::autocast_allow,
    .infer = conv3d_backprop_filter_v2_functions::infer,
    .gradient = conv3d_backprop_filter_v2_functions::gradient,
    .flops = conv3d_backprop_filter_v2_functions::flops,
    .example = R"(
x = f32{1,2,2,2,1}[1, 2, 3, 4, 5, 6, 7, 8]
dy = f32{1,1,2,2,1}[1, 2, 3, 4]
dw = Conv3DBackpropFilterV2(x, i32[2, 1, 1, 1, 1], dy) strides=[1, 1, 1, 1, 1] padding="VALID"
fetch dw = f32{2,1,1,1,1}[30, 70]
)",
};

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
    .effects = effect::autocast_allow,
    .infer = conv3d_backprop_input_v2_functions::infer,
    .gradient = conv3d_backprop_input_v2_functions::gradient,
    .flops = conv3d_backprop_input_v2_functions::flops,
    .example = R"(
w = f32{2,1,1,1,1}[1, 10]
dy = f32{1,1,2,2,1}[1, 2, 3, 4]
dx = Conv3DBackpropInputV2(i32[1, 2, 2, 2, 1], w, dy) strides=[1, 1, 1, 1, 1] padding="VALID"
fetch dx = f32{1,2,2,2,1}[1, 2, 3, 4, 10, 20, 30, 40]
)",
};

} // namespace troupe::ops::conv3d_op
