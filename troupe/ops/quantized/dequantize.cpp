// Dequantize: the real numbers that whole ones of few bits stand for.
#include "troupe/ops/quantized/shared/quantization.hpp"

namespace troupe::ops::dequantize_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(infer_ranges(at));
  return shapes{at.input(0)};
}

} // namespace

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
    .infer = infer,
    .no_gradient = "whole numbers have none",
    .example = R"(
y = Dequantize(u8[0, 50, 110, 255], f32(0), f32(5.1))
z = Dequantize(i8[-127, 0, 64], f32(-1), f32(1)) mode="SCALED" narrow_range=true
fetch y = f32[0, 1, 2.2, 5.1]
fetch z = f32[-1, 0, 0.503937]
)",
};

} // namespace troupe::ops::dequantize_op
