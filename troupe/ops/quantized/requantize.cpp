// Requantize: whole numbers of 32 bits as bytes.
#include "troupe/ops/quantized/shared/quantized_range.hpp"

namespace troupe::ops::requantize_op {

extern constexpr op_def requantize{
    .name = "Requantize",
    .doc = "Makes bytes of 32-bit whole numbers that stand for a range; the bytes stand for "
           "another.\n\n"
           "What is outside of the new range becomes its ends. Both ranges must be finite and in "
           "order, and the new one must not begin above 0.",
    .inputs = {{"input", "Tinput"},
               {"input_min", "f32"},
               {"input_max", "f32"},
               {"requested_output_min", "f32"},
               {"requested_output_max", "f32"}},
    .outputs = {{"output", "out_type"}, {"output_min", "f32"}, {"output_max", "f32"}},
    .attrs = {{"Tinput", one_of(dtype::i32)}, {"out_type", byte_types}},
    .infer = infer_quantized_like_input<1>,
    .no_gradient = "whole numbers have none",
    .example = R"(
x = i32[-1073741824, 0, 536870912, 2147483647]
y = Requantize(x, f32(-2), f32(2), f32(-1), f32(1)) out_type=u8
fetch y = u8[0, 128, 191, 255]
fetch y:2 = f32(1)
)",
};

} // namespace troupe::ops::requantize_op
