// QuantizedConv2D: convolution of bytes with a filter of bytes.
#include "troupe/ops/conv/shared/convolution.hpp"
#include "troupe/ops/quantized/shared/quantized_range.hpp"

namespace troupe::ops::quantized_conv2d_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto options, read_windows(at, quantized_convolution_form));
  TROUPE_ASSIGN(auto input, at.of_rank(0, options.rank()));
  TROUPE_ASSIGN(auto filter, at.of_rank(1, options.rank()));
  TROUPE_ASSIGN(auto output, infer_convolved(options, false, input, filter));
  return infer_quantized(at, output, 2);
}

double flops(const node& from_node) {
  return convolution_flops(from_node, {convolution_family::plain_2d, convolution_role::output});
}

} // namespace

extern constexpr op_def quantized_conv2d{
    .name = "QuantizedConv2D",
    .doc = "Computes a 2-D convolution of images of bytes with a filter of bytes, which stand for "
           "ranges of real numbers.\n\n"
           "Images are [images, rows, columns, channels], the filter is [rows, columns, inputs, "
           "outputs]; strides, dilations and padding are those of Conv2D, and padding stands for "
           "0. The sums are exact whole numbers, that wrap around at 32 bits; min_output and "
           "max_output say what the ends of their type stand for. Ranges must be finite and in "
           "order. It is fastest where they have 0. Unlike TensorFlow's, windows begin where those "
           "of Conv2D do with strides beyond 2 as well, and strides may differ.",
    .inputs = {{"input", "Tinput"},
               {"filter", "Tfilter"},
               {"min_input", "f32"},
               {"max_input", "f32"},
               {"min_filter", "f32"},
               {"max_filter", "f32"}},
    .outputs = {{"output", "out_type"}, {"min_output", "f32"}, {"max_output", "f32"}},
    .attrs = {{"Tinput", byte_types},
              {"Tfilter", byte_types},
              {"out_type", one_of(dtype::i32), dtype::i32},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"dilations", attr_kind::integers, true}},
    .infer = infer,
    .flops = flops,
    .no_gradient = "whole numbers have none",
    .example = R"(
x = u8[[[[1], [2], [3]], [[4], [5], [6]], [[7], [8], [9]]]]
w = u8{2,2,1,1}[129, 130, 131, 132]
y = QuantizedConv2D(x, w, f32(0), f32(255), f32(-128), f32(127)) strides=[1, 1, 1, 1] padding="VALID"
z = QuantizedConv2D(x, w, f32(0), f32(255), f32(-128), f32(127)) strides=[1, 2, 2, 1] padding="SAME"
fetch y = i32[[[[37], [47]], [[67], [77]]]]
fetch z = i32[[[[37], [21]], [[23], [9]]]]
fetch z:2 = f32(2147483647)
)",
};

} // namespace troupe::ops::quantized_conv2d_op
