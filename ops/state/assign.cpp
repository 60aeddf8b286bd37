// Ops that change whole variables.
#include "troupe/ops/state/shared/update.hpp"
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
    .by_handle = {.name = "AssignVariableOp",
                  .variable = "resource",
                  .type = "dtype",
                  .without_use_locking = true,
                  .defined = true},
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

extern constexpr op_def assign_variable_op{
    .name = "AssignVariableOp",
    .doc = "Replaces the value of a variable that is given by its handle.\n\n"
           "With validate_shape, the value must have the shape of the one it replaces; the "
           "variable's declared shape holds always. The variable shares the value's memory until "
           "one of them changes.",
    .inputs = {handle("resource", "dtype"), {"value", "dtype"}},
    .attrs = {{"dtype", any_type}, {"validate_shape", false}},
    .effects = effect::stateful,
    .infer = infer,
    .no_gradient = "state does not carry gradients",
    .example = R"(
v = VarHandleOp dtype=i32 shape=[-1]
set = AssignVariableOp(v, i32[1, 2])
target set
run
fetch v = i32[1, 2]
)",
};

extern constexpr op_def assign_add{
    .name = "AssignAdd",
    .doc = "Adds a value of the same shape to a variable, in place.\n\n"
           "Updates of one variable exclude each other; with use_locking=false they race, as is "
           "TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = {ref("ref", "T"), {"value", "T"}},
    .outputs = {ref("output_ref", "T")},
    .attrs = {{"T", numbers}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "AssignAddVariableOp",
                  .variable = "resource",
                  .type = "dtype",
                  .without_use_locking = true},
    .infer = infer_update,
    .no_gradient = "state does not carry gradients",
    .example = R"(
v = VariableV2 dtype=f32 shape=[2]
init = Assign(v, f32[10, 20])
more = AssignAdd(v, f32[1, 2])
target init
run
fetch more = f32[11, 22]
run
target more
run
fetch v = f32[12, 24]
)",
};

extern constexpr op_def assign_sub{
    .name = "AssignSub",
    .doc = "Subtracts a value of the same shape from a variable, in place.\n\n"
           "Updates of one variable exclude each other; with use_locking=false they race, as is "
           "TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = {ref("ref", "T"), {"value", "T"}},
    .outputs = {ref("output_ref", "T")},
    .attrs = {{"T", numbers}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "AssignSubVariableOp",
                  .variable = "resource",
                  .type = "dtype",
                  .without_use_locking = true},
    .infer = infer_update,
    .no_gradient = "state does not carry gradients",
    .example = R"(
v = VariableV2 dtype=f32 shape=[2]
init = Assign(v, f32[10, 20])
more = AssignSub(v, f32[1, 2])
target init
run
fetch more = f32[9, 18]
run
target more
run
fetch v = f32[8, 16]
)",
};

} // namespace troupe::ops::assign_op
