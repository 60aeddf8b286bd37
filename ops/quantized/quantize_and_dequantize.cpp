// Rounds numbers to those that few bits can represent, and returns real numbers again.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/quantized/shared/simulated_quantization.hpp"

namespace troupe::ops::quantize_and_dequantize_op {
namespace {

// The inputs from `first` on are the ends of the range: scalars, or a number per slice.
status check_ends(const infer_context& at, int first) {
  auto axis = at.attr<int64_t>("axis");
  const auto& x = at.input(first - 1);
  if (axis < -1 || (x.has_rank() && axis >= x.rank()))
    return at.invalid("axis must be in [-1, ", x.rank(), "), got ", axis);
  for (int i : {first, first + 1}) {
    TROUPE_ASSIGN(auto ends, at.of_rank(i, axis < 0 ? 0 : 1));
    if (axis >= 0 && x.has_rank())
      TROUPE_TRY(merge(ends, partial_shape{x[static_cast<int>(axis)]}).status());
  }
  return {};
}

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(simulated_quantization_of(at).status());
  TROUPE_TRY(check_ends(at, 1));
  return shapes{at.input(0)};
}

result<shapes> infer_v3(const infer_context& at) {
  TROUPE_TRY(at.of_rank(3, 0));
  return infer(at);
}

result<shapes> infer_grad(const infer_context& at) {
  TROUPE_TRY(check_ends(at, 2));
  TROUPE_ASSIGN(auto dims, merge(at.input(0), at.input(1)));
  TROUPE_ASSIGN(auto ends, merge(at.input(2), at.input(3)));
  return shapes{dims, ends, ends};
}

// The gradient ignores the rounding.
edges passed_gradient(gradient_context& at) { return {at.output_gradient(0), {}, {}}; }
edges passed_gradient_v3(gradient_context& at) { return {at.output_gradient(0), {}, {}, {}}; }

edges gradient_within(gradient_context& at) {
  auto first = build("QuantizeAndDequantizeV4Grad",
                     {at.output_gradient(0), at.input(0), at.input(1), at.input(2)},
                     {{"axis", at.attr<int64_t>("axis")}});
  return {first, {first.node, 1}, {first.node, 2}};
}

} // namespace

extern constexpr op_def quantize_and_dequantize_v2{
    .name = "QuantizeAndDequantizeV2",
    .doc = "Does what QuantizeAndDequantizeV4 does; the gradient passes everywhere, as if nothing "
           "was rounded.",
    .inputs = {{"input", "T"}, {"input_min", "T"}, {"input_max", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"signed_input", true},
              {"num_bits", 8},
              {"range_given", false},
              {"T", one_of(dtype::f32, dtype::f64)},
              {"round_mode", "HALF_TO_EVEN"},
              {"narrow_range", false},
              {"axis", -1}},
    .effects = effect::forwardable,
    .infer = infer,
    .gradient = passed_gradient,
    .example = R"(
y = QuantizeAndDequantizeV2(f32[-1, 0.3, 0.5], f32(0), f32(0)) num_bits=3
fetch y = f32[-1, 0.25, 0.5]
)",
};

extern constexpr op_def quantize_and_dequantize_v3{
    .name = "QuantizeAndDequantizeV3",
    .doc = "Does what QuantizeAndDequantizeV4 does with a number of bits that is computed, and "
           "rounds halves to even numbers; the gradient passes everywhere, as if nothing was "
           "rounded.",
    .inputs = {{"input", "T"}, {"input_min", "T"}, {"input_max", "T"}, on_host("num_bits", "i32")},
    .outputs = {{"output", "T"}},
    .attrs = {{"signed_input", true},
              {"range_given", true},
              {"T", one_of(dtype::f32, dtype::f64)},
              {"narrow_range", false},
              {"axis", -1}},
    .effects = effect::forwardable,
    .infer = infer_v3,
    .gradient = passed_gradient_v3,
    .example = R"(
y = QuantizeAndDequantizeV3(f32[-1, 0.3, 0.9], f32(-1), f32(1), i32(3))
fetch y = f32[-1, 0.333333, 1]
)",
};

extern constexpr op_def quantize_and_dequantize_v4{
    .name = "QuantizeAndDequantizeV4",
    .doc = "Rounds to the numbers that whole ones of num_bits can stand for, times a step.\n\nThe "
           "step is the least for which the range fits into the whole numbers, and 0 stays 0. The "
           "range is that of the input, or, with range_given, the one from input_min to input_max: "
           "then what is outside of what the whole numbers stand for becomes their ends. "
           "signed_input says that whole numbers may be negative, and narrow_range leaves out the "
           "least, which has no opposite. round_mode is HALF_TO_EVEN or HALF_UP. With an axis, "
           "each slice along it has a range of its own.\n\nThe gradient passes from input_min to "
           "input_max, whether or not they are the range that was used.",
    .inputs = {{"input", "T"}, {"input_min", "T"}, {"input_max", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"signed_input", true},
              {"num_bits", 8},
              {"range_given", false},
              {"T", one_of(dtype::f32, dtype::f64)},
              {"round_mode", "HALF_TO_EVEN"},
              {"narrow_range", false},
              {"axis", -1}},
    .effects = effect::forwardable,
    .infer = infer,
    .gradient = gradient_within,
    .example = R"(
y = QuantizeAndDequantizeV4(f32[-1, 0.3, 0.5], f32(0), f32(0)) num_bits=3
z = QuantizeAndDequantizeV4(f32[-9, 0.3, 2.5], f32(-3), f32(3)) num_bits=3 narrow_range=true range_given=true
fetch y = f32[-1, 0.25, 0.5]
fetch z = f32[-3, 0, 2]
)",
};

extern constexpr op_def quantize_and_dequantize_v4_grad{
    .name = "QuantizeAndDequantizeV4Grad",
    .doc = "Gives the gradients where the input is between input_min and input_max, zeros "
           "elsewhere and for both ends.",
    .inputs = {{"gradients", "T"}, {"input", "T"}, {"input_min", "T"}, {"input_max", "T"}},
    .outputs = {{"input_backprop", "T"}, {"input_min_backprop", "T"}, {"input_max_backprop", "T"}},
    .attrs = {{"T", one_of(dtype::f32, dtype::f64)}, {"axis", -1}},
    .infer = infer_grad,
    .no_gradient = "what it is the gradient of is no smooth function",
    .example = R"(
dx = QuantizeAndDequantizeV4Grad(f32[1, 2, 3], f32[-7, 0, 5.5], f32(-6), f32(6))
fetch dx = f32[0, 2, 3]
fetch dx:1 = f32(0)
fetch dx:2 = f32(0)
)",
};

} // namespace troupe::ops::quantize_and_dequantize_op
