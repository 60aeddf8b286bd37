// Converts integers of 32 bits to 8 bits.
#include "troupe/ops/quantized/shared/quantized_range.hpp"

namespace troupe::ops::requantize_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto inferred, infer_quantized(at, at.input(0), 1));
  inferred.erase(inferred.begin());
  return inferred;
}

} // namespace

extern constexpr op_def requantization_range{
    .name = "RequantizationRange",
    .doc = "Gives the range of the real numbers that the elements stand for.\n\n"
           "It is part of the range that their type stands for; its minimum is 0 where none is "
           "below.",
    .inputs = {{"input", "Tinput"}, {"input_min", "f32"}, {"input_max", "f32"}},
    .outputs = {{"output_min", "f32"}, {"output_max", "f32"}},
    .attrs = {{"Tinput", one_of(dtype::i32)}},
    .infer = infer,
    .no_gradient = "it looks at whole numbers",
    .example = R"(
r = RequantizationRange(i32[-1073741824, 0, 536870912], f32(-2), f32(2))
fetch r = f32(-1)
fetch r:1 = f32(0.5)
)",
};

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

} // namespace troupe::ops::requantize_op
