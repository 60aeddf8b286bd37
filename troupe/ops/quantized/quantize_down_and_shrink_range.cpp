// QuantizeDownAndShrinkRange: whole numbers of 32 bits as bytes for as small a range as will do.
#include "troupe/ops/quantized/shared/quantized_range.hpp"

namespace troupe::ops::quantize_down_and_shrink_range_op {

extern constexpr op_def quantize_down_and_shrink_range{
    .name = "QuantizeDownAndShrinkRange",
    .doc = "Makes bytes of 32-bit whole numbers that stand for a range; the bytes stand for the "
           "part of it that the elements need.\n\n"
           "It is Requantize with what RequantizationRange gives. The range must be finite and in "
           "order.",
    .inputs = {{"input", "Tinput"}, {"input_min", "f32"}, {"input_max", "f32"}},
    .outputs = {{"output", "out_type"}, {"output_min", "f32"}, {"output_max", "f32"}},
    .attrs = {{"Tinput", one_of(dtype::i32)}, {"out_type", byte_types}},
    .infer = infer_quantized_like_input<1>,
    .no_gradient = "whole numbers have none",
    .example = R"(
y = QuantizeDownAndShrinkRange(i32[-1073741824, 0, 1073741824], f32(-2), f32(2)) out_type=u8
fetch y = u8[0, 128, 255]
fetch y:1 = f32(-1)
fetch y:2 = f32(1)
)",
};

} // namespace troupe::ops::quantize_down_and_shrink_range_op
