// Rectified quantized numbers, up to a bound.
#include "troupe/ops/quantized/shared/quantized_range.hpp"

namespace troupe::ops::quantized_relu_op {
namespace {

// The range is given by the last two inputs.
result<shapes> infer_rectified(const infer_context& at) {
  if (at.input_type(0) != at.output_type(0))
    return at.invalid("out_type must be Tinput, got ", at.output_type(0), " and ",
                      at.input_type(0));
  return infer_quantized(at, at.input(0), 1);
}

// Completes the form of an op that clamps quantized numbers.
constexpr op_def rectification(op_def def) {
  constexpr auto types = byte_types | one_of(dtype::i32);
  def.outputs = {
      {"activations", "out_type"}, {"min_activations", "f32"}, {"max_activations", "f32"}};
  def.attrs = {{"Tinput", types}, {"out_type", types, dtype::u8}};
  def.effects = effect::forwardable;
  def.infer = infer_rectified;
  def.no_gradient = "whole numbers have none";
  return def;
}

} // namespace

extern constexpr op_def quantized_relu = rectification({
    .name = "QuantizedRelu",
    .doc = "Computes max(x, 0) of each element, where 0 is the whole number that stands for it.\n\n"
           "The range must be finite and in order; it stays as it is, and out_type must be Tinput.",
    .inputs = {{"features", "Tinput"}, {"min_features", "f32"}, {"max_features", "f32"}},
    .example = R"(
y = QuantizedRelu(u8[0, 127, 128, 200], f32(-128), f32(127))
fetch y = u8[128, 128, 128, 200]
fetch y:1 = f32(-128)
)",
});

extern constexpr op_def quantized_relu6 = rectification({
    .name = "QuantizedRelu6",
    .doc = "Computes min(max(x, 0), 6) of each element, where 0 and 6 are the whole numbers that "
           "stand for them.\n\n"
           "The range must be finite and in order; it stays as it is, and out_type must be Tinput.",
    .inputs = {{"features", "Tinput"}, {"min_features", "f32"}, {"max_features", "f32"}},
    .example = R"(
y = QuantizedRelu6(u8[0, 127, 130, 200], f32(-128), f32(127))
fetch y = u8[128, 128, 130, 134]
fetch y:2 = f32(127)
)",
});

extern constexpr op_def quantized_relu_x = rectification({
    .name = "QuantizedReluX",
    .doc = "Computes min(max(x, 0), max_value) of each element, where 0 and max_value are the "
           "whole numbers that stand for them.\n\n"
           "The range must be finite and in order; it stays as it is, and out_type must be Tinput.",
    .inputs = {{"features", "Tinput"},
               {"max_value", "f32"},
               {"min_features", "f32"},
               {"max_features", "f32"}},
    .example = R"(
y = QuantizedReluX(u8[0, 127, 130, 200], f32(10), f32(-128), f32(127))
fetch y = u8[128, 128, 130, 138]
fetch y:2 = f32(127)
)",
});

} // namespace troupe::ops::quantized_relu_op
