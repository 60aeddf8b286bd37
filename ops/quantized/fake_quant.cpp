// Rounds numbers as if they were stored in few bits, in a range that is given or learned.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/quantized/shared/fake_quantization.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::fake_quant_op {
namespace {

result<shapes> infer_fake_quant_with_min_max_args(const infer_context& at) {
  TROUPE_TRY(bit_range_of(at));
  return shapes{at.input(0)};
}

edges args_gradient(gradient_context& at) {
  return {build("FakeQuantWithMinMaxArgsGradient", {at.output_gradient(0), at.input(0)},
                {{"min", at.attr<double>("min")},
                 {"max", at.attr<double>("max")},
                 {"num_bits", at.attr<int64_t>("num_bits")},
                 {"narrow_range", at.attr<bool>("narrow_range")}})};
}

result<shapes> infer_fake_quant_with_min_max_args_gradient(const infer_context& at) {
  TROUPE_TRY(bit_range_of(at));
  TROUPE_ASSIGN(auto dims, merge(at.input(0), at.input(1)));
  return shapes{dims};
}

result<shapes> infer_fake_quant_with_min_max_vars(const infer_context& at) {
  TROUPE_TRY(bit_range_of(at));
  TROUPE_TRY(at.of_rank(1, 0));
  TROUPE_TRY(at.of_rank(2, 0));
  return shapes{at.input(0)};
}

edges vars_gradient(gradient_context& at) {
  auto first = build("FakeQuantWithMinMaxVarsGradient",
                     {at.output_gradient(0), at.input(0), at.input(1), at.input(2)},
                     {{"num_bits", at.attr<int64_t>("num_bits")},
                      {"narrow_range", at.attr<bool>("narrow_range")}});
  return {first, {first.node, 1}, {first.node, 2}};
}

result<shapes> infer_fake_quant_with_min_max_vars_gradient(const infer_context& at) {
  TROUPE_TRY(bit_range_of(at));
  TROUPE_TRY(at.of_rank(2, 0));
  TROUPE_TRY(at.of_rank(3, 0));
  TROUPE_ASSIGN(auto dims, merge(at.input(0), at.input(1)));
  return shapes{dims, shape{}, shape{}};
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
    .infer = infer_fake_quant_with_min_max_args,
    .gradient = args_gradient,
    .example = R"(
y = FakeQuantWithMinMaxArgs(f32[-1, 0.1, 0.4, 9]) min=0 max=3 num_bits=2
fetch y = f32[0, 0, 0, 3]
)",
};

extern constexpr op_def fake_quant_with_min_max_args_gradient{
    .name = "FakeQuantWithMinMaxArgsGradient",
    .doc = "Gives the gradients where the inputs are within the range, zeros elsewhere.",
    .inputs = {{"gradients", "f32"}, {"inputs", "f32"}},
    .outputs = {{"backprops", "f32"}},
    .attrs = {{"min", -6.0}, {"max", 6.0}, {"num_bits", 8}, {"narrow_range", false}},
    .effects = effect::forwardable,
    .infer = infer_fake_quant_with_min_max_args_gradient,
    .no_gradient = "what it is the gradient of is no smooth function",
    .example = R"(
dx = FakeQuantWithMinMaxArgsGradient(f32[1, 2, 3], f32[-7, 0, 5.5])
fetch dx = f32[0, 2, 3]
)",
};

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
    .infer = infer_fake_quant_with_min_max_vars,
    .gradient = vars_gradient,
    .example = R"(
y = FakeQuantWithMinMaxVars(f32[-1, 0.1, 0.4, 9], f32(0), f32(3)) num_bits=2
fetch y = f32[0, 0, 0, 3]
)",
};

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
    .infer = infer_fake_quant_with_min_max_vars_gradient,
    .no_gradient = "what it is the gradient of is no smooth function",
    .example = R"(
dx = FakeQuantWithMinMaxVarsGradient(f32[1, 2, 3, 4], f32[-7, 0, 5.5, 8], f32(-6), f32(6))
fetch dx = f32[0, 2, 3, 0]
fetch dx:1 = f32(1)
fetch dx:2 = f32(4)
)",
};

} // namespace troupe::ops::fake_quant_op
