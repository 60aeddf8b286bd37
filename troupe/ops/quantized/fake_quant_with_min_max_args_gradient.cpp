// FakeQuantWithMinMaxArgsGradient: the gradient of FakeQuantWithMinMaxArgs.
#include "troupe/ops/quantized/shared/fake_quantization.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::fake_quant_with_min_max_args_gradient_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(bit_range_of(at));
  TROUPE_ASSIGN(auto dims, merge(at.input(0), at.input(1)));
  return shapes{dims};
}

} // namespace

extern constexpr op_def fake_quant_with_min_max_args_gradient{
    .name = "FakeQuantWithMinMaxArgsGradient",
    .doc = "Gives the gradients where the inputs are within the range, zeros elsewhere.",
    .inputs = {{"gradients", "f32"}, {"inputs", "f32"}},
    .outputs = {{"backprops", "f32"}},
    .attrs = {{"min", -6.0}, {"max", 6.0}, {"num_bits", 8}, {"narrow_range", false}},
    .infer = infer,
    .no_gradient = "what it is the gradient of is no smooth function",
    .example = R"(
dx = FakeQuantWithMinMaxArgsGradient(f32[1, 2, 3], f32[-7, 0, 5.5])
fetch dx = f32[0, 2, 3]
)",
};

} // namespace troupe::ops::fake_quant_with_min_max_args_gradient_op
