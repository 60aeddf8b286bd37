// FakeQuantWithMinMaxArgs: numbers rounded as if few bits had to stand for them.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/quantized/shared/fake_quantization.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::fake_quant_with_min_max_args_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(bit_range_of(at));
  return shapes{at.input(0)};
}

edges gradient(gradient_context& at) {
  return {build("FakeQuantWithMinMaxArgsGradient", {at.output_gradient(0), at.input(0)},
                {{"min", at.attr<double>("min")},
                 {"max", at.attr<double>("max")},
                 {"num_bits", at.attr<int64_t>("num_bits")},
                 {"narrow_range", at.attr<bool>("narrow_range")}})};
}

} // namespace

extern constexpr op_def fake_quant_with_min_max_args{
    .name = "FakeQuantWithMinMaxArgs",
    .doc = "Rounds to the numbers that whole ones of num_bits can stand for.\n\nThese are spread "
           "over the range from min to max, which is moved a little so that 0 is one of them; what "
           "is outside becomes its ends. With narrow_range there is one number less. The gradient "
           "passes within the range as if nothing was rounded.",
    .inputs = {{"inputs", "f32"}},
    .outputs = {{"outputs", "f32"}},
    .attrs = {{"min", -6.0}, {"max", 6.0}, {"num_bits", 8}, {"narrow_range", false}},
    .effects = effect::forwardable,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = FakeQuantWithMinMaxArgs(f32[-1, 0.1, 0.4, 9]) min=0 max=3 num_bits=2
fetch y = f32[0, 0, 0, 3]
)",
};

} // namespace troupe::ops::fake_quant_with_min_max_args_op
