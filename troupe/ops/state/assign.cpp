// Assign: gives a variable its value.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::assign_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto &variable = at.input(0), &value = at.input(1);
  auto joint = merge(variable, value);
  if (joint)
    return shapes{*std::move(joint)};
  return at.invalid("the variable has shape ", variable, ", the value ", value);
}

} // namespace

extern constexpr op_def assign{
    .name = "Assign",
    .doc =
        "Replaces the value of a variable.\n\n"
        "With validate_shape, the value must have the shape of the one it replaces; the variable's "
        "declared shape holds always. The variable shares the value's memory until one of them "
        "changes. use_locking is accepted for TensorFlow's sake: replacing is atomic in any case.",
    .inputs = {ref("ref", "T"), {"value", "T"}},
    .outputs = {ref("output_ref", "T")},
    .attrs = {{"T", any_type}, {"validate_shape", true}, {"use_locking", true}},
    .effects = effect::stateful,
    .infer = infer,
    .no_gradient = "state does not carry gradients",
    .example = R"(
v = VariableV2 dtype=i32 shape=[-1]
set = Assign(v, i32[1, 2])
fetch set = i32[1, 2]
run
fetch v = i32[1, 2]
)",
};

} // namespace troupe::ops::assign_op
