// Placeholders for fed values.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::placeholder_op {
namespace {

result<shapes> infer_placeholder_with_default(const infer_context& at) {
  const auto& dims = at.attr<partial_shape>("shape");
  if (!dims.compatible(at.input(0)))
    return at.invalid("the default must have the shape ", dims, ", got ", at.input(0));
  return shapes{dims};
}

edges gradient(gradient_context& at) { return {at.output_gradient(0)}; }

} // namespace

extern constexpr op_def placeholder{
    .name = "Placeholder",
    .doc = "Stands for a value that is fed to each run.\n\nRunning it without feeding it fails. A "
           "fed value must fit the shape, as far as that is given.",
    .outputs = {{"output", "dtype"}},
    .attrs = {{"dtype", any_value}, {"shape", attr_kind::shape, true}},
    .effects = effect::stateful | effect::must_be_fed, // equal placeholders must not be merged
    .infer = infer::shape_attr,
    .no_gradient = "it has no inputs",
    .example = R"(
x = Placeholder dtype=f32 shape=[-1, 2]
feed x = f32[[1, 2]]
fetch x = f32[[1, 2]]
)",
};

extern constexpr op_def placeholder_with_default{
    .name = "PlaceholderWithDefault",
    .doc = "Stands for a value that may be fed to a run; otherwise it is the input.",
    .inputs = {{"input", "dtype"}},
    .outputs = {{"output", "dtype"}},
    .attrs = {{"dtype", any_type}, {"shape", attr_kind::shape, true}},
    .infer = infer_placeholder_with_default,
    .gradient = gradient,
    .example = R"(
x = PlaceholderWithDefault(f32[1, 2]) shape=[2]
fetch x = f32[1, 2]
run
feed x = f32[3, 4]
fetch x = f32[3, 4]
)",
};

} // namespace troupe::ops::placeholder_op
