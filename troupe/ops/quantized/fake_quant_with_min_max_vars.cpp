// FakeQuantWithMinMaxVars: numbers rounded as if few bits had to stand for them, in a range that is
// learned.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/quantized/shared/fake_quantization.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::fake_quant_with_min_max_vars_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(bit_range_of(at));
  TROUPE_TRY(at.of_rank(1, 0));
  TROUPE_TRY(at.of_rank(2, 0));
  return shapes{at.input(0)};
}

edges gradient(gradient_context& at) {
  auto first = build("FakeQuantWithMinMaxVarsGradient",
                     {at.output_gradient(0), at.input(0), at.input(1), at.input(2)},
                     {{"num_bits", at.attr<int64_t>("num_bits")},
                      {"narrow_range", at.attr<bool>("narrow_range")}});
  return {first, {first.node, 1}, {first.node, 2}};
}

} // namespace

extern constexpr op_def fake_quant_with_min_max_vars{
    .name = "FakeQuantWithMinMaxVars",
    .doc =
        "Does what FakeQuantWithMinMaxArgs does, with a range that is computed.\n\nThe gradients "
        "of what is beyond an end of the range add up to those of the end. Where both ends are "
        "0, so are the outputs.",
    .inputs = {{"inputs", "f32"}, {"min", "f32"}, {"max", "f32"}},
    .outputs = {{"outputs", "f32"}},
    .attrs = {{"num_bits", 8}, {"narrow_range", false}},
    .effects = effect::forwardable,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = FakeQuantWithMinMaxVars(f32[-1, 0.1, 0.4, 9], f32(0), f32(3)) num_bits=2
fetch y = f32[0, 0, 0, 3]
)",
};

} // namespace troupe::ops::fake_quant_with_min_max_vars_op
