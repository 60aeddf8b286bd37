// FakeQuantWithMinMaxVarsGradient: the gradient of FakeQuantWithMinMaxVars.
#include "troupe/ops/quantized/shared/fake_quantization.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::fake_quant_with_min_max_vars_gradient_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(bit_range_of(at));
  TROUPE_TRY(at.of_rank(2, 0));
  TROUPE_TRY(at.of_rank(3, 0));
  TROUPE_ASSIGN(auto dims, merge(at.input(0), at.input(1)));
  return shapes{dims, shape{}, shape{}};
}

} // namespace

extern constexpr op_def fake_quant_with_min_max_vars_gradient{
    .name = "FakeQuantWithMinMaxVarsGradient",
    .doc =
        "Gives the gradients where the inputs are within the range, zeros elsewhere, and the sums "
        "of those where they are less than min and greater than max.\n\nWhere both are 0, all "
        "gradients pass.",
    .inputs = {{"gradients", "f32"}, {"inputs", "f32"}, {"min", "f32"}, {"max", "f32"}},
    .outputs = {{"backprops_wrt_input", "f32"},
                {"backprop_wrt_min", "f32"},
                {"backprop_wrt_max", "f32"}},
    .attrs = {{"num_bits", 8}, {"narrow_range", false}},
    .infer = infer,
    .no_gradient = "what it is the gradient of is no smooth function",
    .example = R"(
dx = FakeQuantWithMinMaxVarsGradient(f32[1, 2, 3, 4], f32[-7, 0, 5.5, 8], f32(-6), f32(6))
fetch dx = f32[0, 2, 3, 0]
fetch dx:1 = f32(1)
fetch dx:2 = f32(4)
)",
};

} // namespace troupe::ops::fake_quant_with_min_max_vars_gradient_op
