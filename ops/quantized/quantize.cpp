// Converts numbers to few bits, and back.
#include "troupe/ops/quantized/shared/quantization.hpp"

namespace troupe::ops::quantize_op {
namespace {

result<shapes> infer_quantize_v2(const infer_context& at) {
  TROUPE_ASSIGN(auto range, infer_ranges(at));
  const auto& round = at.attr<std::string>("round_mode");
  if (round != "HALF_AWAY_FROM_ZERO" && round != "HALF_TO_EVEN")
    return at.invalid("round_mode must be HALF_AWAY_FROM_ZERO or HALF_TO_EVEN, got '", round, "'");
  if (round == "HALF_TO_EVEN" && at.attr<std::string>("mode") != "SCALED")
    return at.invalid("round_mode HALF_TO_EVEN needs mode SCALED");
  return shapes{at.input(0), range, range};
}

result<shapes> infer_dequantize(const infer_context& at) {
  TROUPE_TRY(infer_ranges(at));
  return shapes{at.input(0)};
}

} // namespace

extern constexpr op_def quantize_v2{
    .name = "QuantizeV2",
    .doc =
        "Makes real numbers whole ones of few bits that stand for a range.\n\n"
        "The range, from min_range to max_range, is widened to have 0, and to be no less than "
        "ensure_minimum_range of its greatest number; the last outputs say what it became. Values "
        "outside of it become its ends. MIN_COMBINED spreads the whole numbers over the range; "
        "MIN_FIRST does so such that 0 is one of them; SCALED multiplies by one number, so that 0 "
        "stays 0, and with narrow_range leaves out the least whole number, which has no opposite. "
        "With an axis, each slice along it has a range of its own. The types stand for "
        "TensorFlow's quantized ones.",
    .inputs = {{"input", "f32"}, {"min_range", "f32"}, {"max_range", "f32"}},
    .outputs = {{"output", "T"}, {"output_min", "f32"}, {"output_max", "f32"}},
    .attrs = {{"T", quantized_types},
              {"mode", "MIN_COMBINED"},
              {"round_mode", "HALF_AWAY_FROM_ZERO"},
              {"narrow_range", false},
              {"axis", -1},
              {"ensure_minimum_range", 0.01}},
    .infer = infer_quantize_v2,
    .no_gradient = "it rounds",
    .example = R"(
y = QuantizeV2(f32[0, 1, 2.2, 9], f32(0), f32(5.1)) T=u8
z = QuantizeV2(f32[-1, 0, 0.5], f32(-1), f32(1)) T=i8 mode="SCALED" narrow_range=true
fetch y = u8[0, 50, 110, 255]
fetch z = i8[-127, 0, 64]
)",
};

extern constexpr op_def dequantize{
    .name = "Dequantize",
    .doc = "Gives the real numbers that whole ones of few bits stand for.\n\nThe range is what "
           "QuantizeV2 says that it used, the attributes are those that it had.",
    .inputs = {{"input", "T"}, {"min_range", "f32"}, {"max_range", "f32"}},
    .outputs = {{"output", "dtype"}},
    .attrs = {{"T", quantized_types},
              {"mode", "MIN_COMBINED"},
              {"narrow_range", false},
              {"axis", -1},
              {"dtype", one_of(dtype::bf16, dtype::f32), dtype::f32}},
    .infer = infer_dequantize,
    .no_gradient = "whole numbers have none",
    .example = R"(
y = Dequantize(u8[0, 50, 110, 255], f32(0), f32(5.1))
z = Dequantize(i8[-127, 0, 64], f32(-1), f32(1)) mode="SCALED" narrow_range=true
fetch y = f32[0, 1, 2.2, 5.1]
fetch z = f32[-1, 0, 0.503937]
)",
};

} // namespace troupe::ops::quantize_op
