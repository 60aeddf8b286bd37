// PlaceholderWithDefault: a value that a run may be given.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::placeholder_with_default_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto& dims = at.attr<partial_shape>("shape");
  if (!dims.compatible(at.input(0)))
    return at.invalid("the default must have the shape ", dims, ", got ", at.input(0));
  return shapes{dims};
}

edges gradient(gradient_context& at) { return {at.output_gradient(0)}; }

} // namespace

extern constexpr op_def placeholder_with_default{
    .name = "PlaceholderWithDefault",
    .doc = "Stands for a value that may be fed to a run; otherwise it is the input.",
    .inputs = {{"input", "dtype"}},
    .outputs = {{"output", "dtype"}},
    .attrs = {{"dtype", any_type}, {"shape", attr_kind::shape, true}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
x = PlaceholderWithDefault(f32[1, 2]) shape=[2]
fetch x = f32[1, 2]
run
feed x = f32[3, 4]
fetch x = f32[3, 4]
)",
};

} // namespace troupe::ops::placeholder_with_default_op
