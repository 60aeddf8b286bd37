// Ops on variable handles without a counterpart that takes a reference.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::resource_variable_op {
namespace {

edges read_gradient(gradient_context& at) { return {at.output_gradient(0)}; }

result<shapes> infer_variable_shape(const infer_context& at) {
  const auto& dims = at.input(0);
  return shapes{partial_shape{dims.has_rank() ? dims.rank() : unknown_extent}};
}

} // namespace

extern constexpr op_def read_variable_op{
    .name = "ReadVariableOp",
    .doc = "Gives the value of a variable.\n\n"
           "That after the last update that the node depends on, and before all others. It shares "
           "the memory and copies nothing.",
    .inputs = {behind_handle("resource", "dtype")},
    .outputs = {{"value", "dtype"}},
    .attrs = {{"dtype", any_type}},
    .infer = infer::same_as_input,
    .gradient = read_gradient,
    .example = R"(
v = VarHandleOp dtype=f32 shape=[2]
init = AssignVariableOp(v, f32[1, 2])
before = ReadVariableOp(v)
more = AssignAddVariableOp(v, f32[10, 10])
after = ReadVariableOp(v, ^more)
target init
run
fetch before = f32[1, 2]
fetch after = f32[11, 12]
)",
};

extern constexpr op_def variable_shape{
    .name = "VariableShape",
    .doc = "Gives the extents of a variable's value as a vector.",
    .inputs = {behind_handle("input", "")},
    .outputs = {{"output", "out_type"}},
    .attrs = {{"out_type", index_types, dtype::i32}},
    .effects = effect::reads_shapes_only,
    .infer = infer_variable_shape,
    .no_gradient = "extents are whole numbers",
    .example = R"(
v = VarHandleOp dtype=f32 shape=[-1, -1]
init = AssignVariableOp(v, f32[[1, 2, 3]])
dims = VariableShape(v)
target init
run
fetch dims = i32[1, 3]
)",
};

extern constexpr op_def destroy_resource_op{
    .name = "DestroyResourceOp",
    .doc = "Lets go of a variable's value.\n\n"
           "The variable can be assigned anew; until then, errors say that it was destroyed. "
           "Fails with not_found where there is no value, unless ignore_lookup_error is set.",
    .inputs = {handle("resource", "")},
    .attrs = {{"ignore_lookup_error", true}},
    .effects = effect::stateful,
    .infer = infer::nothing,
    .no_gradient = "state does not carry gradients",
    .example = R"(
v = VarHandleOp dtype=f32 shape=[2]
init = AssignVariableOp(v, f32[1, 2])
drop = DestroyResourceOp(v)
target init
run
target drop
run
fetch v
error failed_precondition "variable 'v' was destroyed"
)",
};

} // namespace troupe::ops::resource_variable_op
