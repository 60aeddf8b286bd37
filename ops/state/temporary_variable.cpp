// Variables that live for one step.
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/state/variable.hpp"

namespace troupe::ops::temporary_variable_op {
namespace {

std::shared_ptr<named_state> make(const node& from_node, std::string) {
  const auto& declared_name = from_node.attr<std::string>("var_name");
  return std::make_shared<variable>(declared_name.empty() ? from_node.name() : declared_name,
                                    from_node.attr<dtype>("dtype"),
                                    from_node.attr<partial_shape>("shape"));
}

result<shapes> infer_destroy(const infer_context& at) {
  const auto* made_by = at.resource(0);
  if (!made_by || !made_by->op().per_step)
    return at.invalid("ref must be a temporary variable, and '", at.source(0),
                      "' is one that outlives steps");
  const auto &maker_name = made_by->attr<std::string>("var_name"),
             &declared_name = at.attr<std::string>("var_name");
  if (declared_name != (maker_name.empty() ? made_by->name() : maker_name))
    return at.invalid("var_name must be that of the variable, '",
                      maker_name.empty() ? made_by->name() : maker_name, "', got '", declared_name,
                      "'");
  return shapes{at.input(0)};
}

} // namespace

extern constexpr op_def temporary_variable{
    .name = "TemporaryVariable",
    .doc = "Holds a tensor within a step, and outputs a reference to it.\n\n"
           "Each step has a variable of its own, which goes with it. It must be assigned before it "
           "is read or updated; DestroyTemporaryVariable takes its value. var_name is by default "
           "the node's name.",
    .outputs = {ref("ref", "dtype")},
    .attrs = {{"shape", attr_kind::shape}, {"dtype", any_type}, {"var_name", ""}},
    .effects = effect::stateful,
    .state_kind = resource::variable,
    .per_step = true,
    .create_state = make,
    .infer = infer::shape_attr,
    .no_gradient = "it has no inputs",
    .example = R"(
sum = TemporaryVariable dtype=f32 shape=[2]
start = Assign(sum, f32[1, 2])
more = AssignAdd(start, f32[10, 10])
out = DestroyTemporaryVariable(more) var_name="sum"
fetch out = f32[11, 12]
run
fetch out = f32[11, 12]
)",
};

extern constexpr op_def destroy_temporary_variable{
    .name = "DestroyTemporaryVariable",
    .doc = "Gives the value of a temporary variable, and destroys it.\n\n"
           "It must depend on all that uses the variable. var_name must be the variable's.",
    .inputs = {ref("ref", "T")},
    .outputs = {{"value", "T"}},
    .attrs = {{"T", any_type}, {"var_name", attr_kind::text}},
    .effects = effect::stateful,
    .infer = infer_destroy,
    .no_gradient = "state does not carry gradients",
    .example = R"(
v = TemporaryVariable dtype=i32 shape=[] var_name="mine"
start = Assign(v, i32(7))
out = DestroyTemporaryVariable(start) var_name="mine"
fetch out = i32(7)
)",
};

} // namespace troupe::ops::temporary_variable_op
