// Sums and products of quantized numbers.
#include "troupe/ops/quantized/shared/quantized_range.hpp"

namespace troupe::ops::quantized_add_op {
namespace {

// Completes the form of QuantizedAdd or QuantizedMul.
constexpr op_def quantized_arithmetic(op_def def) {
  def.inputs = {{"x", "T1"},      {"y", "T2"},      {"min_x", "f32"},
                {"max_x", "f32"}, {"min_y", "f32"}, {"max_y", "f32"}};
  def.outputs = {{"z", "Toutput"}, {"min_z", "f32"}, {"max_z", "f32"}};
  def.attrs = {{"T1", byte_types}, {"T2", byte_types}, {"Toutput", one_of(dtype::i32), dtype::i32}};
  def.infer = [](const infer_context& at) -> result<shapes> {
    TROUPE_ASSIGN(auto dims, broadcast(at.input(0), at.input(1)));
    return infer_quantized(at, dims, 2);
  };
  def.no_gradient = "whole numbers have none";
  return def;
}

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto bias, at.of_rank(1, 1));
  auto dims = at.input(0);
  if (dims.has_rank()) {
    if (dims.rank() < 2)
      return at.invalid("input must have at least 2 axes, got shape ", dims);
    TROUPE_ASSIGN(auto channels, merge(partial_shape{dims[dims.rank() - 1]}, bias));
    dims.set(dims.rank() - 1, channels[0]);
  }
  return infer_quantized(at, dims, 2);
}

} // namespace

extern constexpr op_def quantized_add = quantized_arithmetic({
    .name = "QuantizedAdd",
    .doc = "Adds what bytes stand for, with broadcasting.\n\n"
           "The sum stands for a range around 0 that is 2^14 times as large as what either operand "
           "can be. A range must be finite, its maximum larger than its minimum.",
    .example = R"(
z = QuantizedAdd(u8[0, 128, 255], u8[128], f32(-128), f32(127), f32(-128), f32(127))
y = Dequantize(z, z:1, z:2) mode="MIN_FIRST"
fetch y = f32[-128, 0, 127]
fetch z:2 = f32(2097152)
)",
});

extern constexpr op_def quantized_mul = quantized_arithmetic({
    .name = "QuantizedMul",
    .doc = "Multiplies what bytes stand for, with broadcasting.\n\n"
           "The products are exact whole numbers; min_z and max_z say what the ends of their type "
           "stand for. A range must be finite, its maximum larger than its minimum.",
    .example = R"(
z = QuantizedMul(u8[0, 128, 255], u8[130], f32(0), f32(255), f32(-128), f32(127))
fetch z = i32[0, 256, 510]
fetch z:2 = f32(2147483647)
)",
});

extern constexpr op_def quantized_bias_add{
    .name = "QuantizedBiasAdd",
    .doc = "Adds bias[c] to every element of channel c, of bytes that stand for ranges.\n\n"
           "The channels are the last axis. The sum stands for a range around 0 that is 2^17 times "
           "as large as what either operand can be. Ranges must be finite and in order.",
    .inputs = {{"input", "T1"},
               {"bias", "T2"},
               {"min_input", "f32"},
               {"max_input", "f32"},
               {"min_bias", "f32"},
               {"max_bias", "f32"}},
    .outputs = {{"output", "out_type"}, {"min_out", "f32"}, {"max_out", "f32"}},
    .attrs = {{"T1", byte_types}, {"T2", byte_types}, {"out_type", one_of(dtype::i32), dtype::i32}},
    .infer = infer,
    .no_gradient = "whole numbers have none",
    .example = R"(
y = QuantizedBiasAdd(u8[[0, 128], [255, 1]], u8[128, 255], f32(-128), f32(127), f32(-128), f32(127))
z = Dequantize(y, y:1, y:2) mode="MIN_FIRST"
fetch z = f32[[-128, 127], [127, 0]]
fetch y:2 = f32(16777216)
)",
};

} // namespace troupe::ops::quantized_add_op
