// VariableV2: state that outlives steps.
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/state/variable.hpp"

namespace troupe::ops::variable_v2_op {
namespace {

std::shared_ptr<named_state> make(const node& of, std::string name) {
  return std::make_shared<variable>(std::move(name), of.attr<dtype>("dtype"),
                                    of.attr<partial_shape>("shape"));
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

} // namespace troupe::ops::variable_v2_op
