// Conv2DBackpropFilter: the gradient of Conv2D with respect to its filter.
#include "troupe/ops/conv/shared/convolution.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::conv2d_backprop_filter_op {
namespace {

using functions = convolution_functions<convolution_family::plain_2d, convolution_role::filter>;

} // namespace

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
    .effects = autocast_allow,
    .infer = functions::infer,
    .gradient = functions::gradient,
    .flops = functions::flops,
    .example = R"(
x = f32[[[[1], [2], [3]], [[4], [5], [6]]]]
dw = Conv2DBackpropFilter(x, i32[2, 2, 1, 1], f32[[[[1], [10]]]]) strides=[1, 1, 1, 1] padding="VALID"
fetch dw = f32{2,2,1,1}[21, 32, 54, 65]
)",
};

} // namespace troupe::ops::conv2d_backprop_filter_op
