// Convolution of images, and its gradients.
#include "troupe/ops/conv/shared/convolution.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::conv2d_op {
namespace {

using conv2d_functions =
    convolution_functions<convolution_family::plain_2d, convolution_role::output>;
using conv2d_backprop_filter_functions =
    convolution_functions<convolution_family::plain_2d, convolution_role::filter>;
using conv2d_backprop_input_functions =
    convolution_functions<convolution_family::plain_2d, convolution_role::input>;

} // namespace

extern constexpr op_def conv2d{
    .name = "Conv2D",
    .doc = "Computes a 2-D convolution of images with a filter [rows, columns, inputs, "
           "outputs].\n\n"
           "The input is [images, rows, columns, channels], or [images, channels, rows, columns] "
           "with data_format \"NCHW\". Strides and dilations have one number for each of its "
           "axes, 1 for images and channels. The padding is VALID (none), SAME (as much as gives "
           "an output for each stride, one more behind than before where it is odd) or EXPLICIT "
           "(explicit_paddings: before and after, for each axis). Where the filter has fewer "
           "inputs than there are channels, it is for groups of them, and its outputs are those "
           "of all groups.",
    .inputs = {{"input", "T"}, {"filter", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating | one_of(dtype::i32)},
              {"strides", attr_kind::integers},
              {"use_cudnn_on_gpu", true},
              {"padding", attr_kind::text},
              {"explicit_paddings", attr_kind::integers, true},
              {"data_format", "NHWC"},
              {"dilations", attr_kind::integers, true}},
    .effects = effect::autocast_allow | effect::is_convolution,
    .infer = conv2d_functions::infer,
    .gradient = conv2d_functions::gradient,
    .flops = conv2d_functions::flops,
    .example = R"(
x = f32[[[[1], [2], [3]], [[4], [5], [6]], [[7], [8], [9]]]]
w = f32{2,2,1,1}[1, 2, 3, 4]
y = Conv2D(x, w) strides=[1, 1, 1, 1] padding="VALID"
z = Conv2D(x, w) strides=[1, 2, 2, 1] padding="SAME"
fetch y = f32[[[[37], [47]], [[67], [77]]]]
fetch z = f32[[[[37], [21]], [[23], [9]]]]
)",
};

extern constexpr op_def conv2d_backprop_filter{
    .name = "Conv2DBackpropFilter",
    .doc = "Computes the gradient of Conv2D with respect to its filter, which has the shape "
           "filter_sizes.",
    .inputs = {{"input", "T"}, on_host("filter_sizes", "i32"), {"out_backprop", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating},
              {"strides", attr_kind::integers},
              {"use_cudnn_on_gpu", true},
              {"padding", attr_kind::text},
              {"explicit_paddings", attr_kind::integers, true},
              {"data_format", "NHWC"},
              {"dilations", attr_kind::integers, true}},
    .effects = effect::autocast_allow,
    .infer = conv2d_backprop_filter_functions::infer,
    .gradient = conv2d_backprop_filter_functions::gradient,
    .flops = conv2d_backprop_filter_functions::flops,
    .example = R"(
x = f32[[[[1], [2], [3]], [[4], [5], [6]]]]
dw = Conv2DBackpropFilter(x, i32[2, 2, 1, 1], f32[[[[1], [10]]]]) strides=[1, 1, 1, 1] padding="VALID"
fetch dw = f32{2,2,1,1}[21, 32, 54, 65]
)",
};

extern constexpr op_def conv2d_backprop_input{
    .name = "Conv2DBackpropInput",
    .doc = "Computes the gradient of Conv2D with respect to its input, which has the shape "
           "input_sizes.",
    .inputs = {on_host("input_sizes", "i32"), {"filter", "T"}, {"out_backprop", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating | one_of(dtype::i32)},
              {"strides", attr_kind::integers},
              {"use_cudnn_on_gpu", true},
              {"padding", attr_kind::text},
              {"explicit_paddings", attr_kind::integers, true},
              {"data_format", "NHWC"},
              {"dilations", attr_kind::integers, true}},
    .effects = effect::autocast_allow,
    .infer = conv2d_backprop_input_functions::infer,
    .gradient = conv2d_backprop_input_functions::gradient,
    .flops = conv2d_backprop_input_functions::flops,
    .example = R"(
w = f32{2,2,1,1}[1, 2, 3, 4]
dx = Conv2DBackpropInput(i32[1, 2, 3, 1], w, f32[[[[1], [10]]]]) strides=[1, 1, 1, 1] padding="VALID"
fetch dx = f32[[[[1], [12], [20]], [[3], [34], [40]]]]
)",
};

} // namespace troupe::ops::conv2d_op
