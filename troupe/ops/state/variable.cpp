// Variables.
#include "troupe/runtime/state/variable.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::variable_op {
namespace {

std::shared_ptr<named_state> make(const node& of, std::string name) {
  return std::make_shared<variable>(std::move(name), of.attr<dtype>("dtype"),
                                    of.attr<partial_shape>("shape"));
}

result<shapes> infer_count_up_to(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  return shapes{shape{}};
}

} // namespace

extern constexpr op_def variable_v2{
    .name = "VariableV2",
    .doc = "Holds a tensor from step to step, and outputs a reference to it.\n\n"
           "The variable lives in the named container of its task, under shared_name or else the "
           "node's name; nodes of the same name share it. It must be assigned before it is read. "
           "The shape may be known in part; what is known holds for every value.",
    .outputs = {ref("ref", "dtype")},
    .attrs = {{"shape", attr_kind::shape},
              {"dtype", any_type},
              {"container", ""},
              {"shared_name", ""}},
    .effects = effect::stateful,
    .makes = resource::variable,
    .make = make,
    .infer = infer::shape_attr,
    .no_gradient = "it has no inputs",
    .example = R"(
v = VariableV2 dtype=f32 shape=[2]
init = Assign(v, f32[1, 2])
target init
run
fetch v = f32[1, 2]
)",
};

extern constexpr op_def is_variable_initialized{
    .name = "IsVariableInitialized",
    .doc = "Says whether a variable has been assigned.",
    .inputs = {ref("ref", "dtype")},
    .outputs = {{"is_initialized", "bool"}},
    .attrs = {{"dtype", any_type}},
    .effects = effect::stateful | effect::of_shape,
    .infer = infer::scalar,
    .no_gradient = "its output is a truth value",
    .example = R"(
v = VariableV2 dtype=f32 shape=[]
init = Assign(v, f32(1))
ready = IsVariableInitialized(v)
fetch ready = bool(false)
run
target init
run
fetch ready = bool(true)
)",
};

extern constexpr op_def count_up_to{
    .name = "CountUpTo",
    .doc = "Counts a scalar variable up by one, and outputs what it was before.\n\nFails with "
           "out_of_range, the end of data, when the variable has reached limit.",
    .inputs = {ref("ref", "T")},
    .outputs = {{"output", "T"}},
    .attrs = {{"limit", attr_kind::integer}, {"T", index_types}},
    .effects = effect::stateful,
    .infer = infer_count_up_to,
    .no_gradient = "state does not carry gradients",
    .example = R"(
v = VariableV2 dtype=i32 shape=[]
init = Assign(v, i32(6))
next = CountUpTo(v) limit=7
target init
run
fetch next = i32(6)
run
fetch next
error out_of_range "has reached the limit 7"
)",
};

} // namespace troupe::ops::variable_op
