// The definitions of variables.
#include "troupe/runtime/state/variable.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/infer.hpp"

#include <cstring>

namespace troupe::ops::variable_op {
namespace {

bool is_on_accelerator(const node& at) {
  auto device = device_name::parse(at.device());
  return device && !device->kind.empty() && device->kind != "cpu";
}

result<tensor> zeros_like_attrs(const node& from_node) {
  TROUPE_ASSIGN(auto zeros, tensor::make(from_node.attr<dtype>("dtype"),
                                         from_node.attr<partial_shape>("shape").known()));
  if (zeros.type() != dtype::string) // strings start as empty
    std::memset(zeros.raw(), 0, zeros.bytes());
  return zeros;
}

// A local variable starts with zeros. In the memory of an accelerator, which the host cannot write,
// its initializer must run.
std::shared_ptr<named_state> make(const node& from_node, std::string name) {
  const auto& dims = from_node.attr<partial_shape>("shape");
  auto state =
      std::make_shared<troupe::variable>(std::move(name), from_node.attr<dtype>("dtype"), dims);
  auto local = from_node.attrs().find("_local");
  auto is_local = local != from_node.attrs().end() && *local->second.get_if<bool>();
  if (is_local && dims.fully_known() && !is_on_accelerator(from_node))
    if (auto zeros = zeros_like_attrs(from_node))
      (void)state->assign(*std::move(zeros)); // cannot fail: type and shape match
  return state;
}

// The attribute of the first version cannot distinguish a scalar from an unknown shape.
partial_shape shape_of_first(const partial_shape& declared) {
  return declared.has_rank() && declared.rank() == 0 ? partial_shape::unknown() : declared;
}

std::shared_ptr<named_state> make_first(const node& from_node, std::string name) {
  return std::make_shared<troupe::variable>(std::move(name), from_node.attr<dtype>("dtype"),
                                            shape_of_first(from_node.attr<partial_shape>("shape")));
}

result<shapes> infer_first(const infer_context& at) {
  return shapes{shape_of_first(at.attr<partial_shape>("shape"))};
}

result<shapes> infer_count_up_to(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  return shapes{shape{}};
}

} // namespace

extern constexpr op_def variable_v2{
    .name = "VariableV2",
    .doc =
        "Holds a tensor from step to step, and outputs a reference to it.\n\n"
        "The variable lives in the named container of its task, under shared_name or else the "
        "node's name; nodes of the same name share it. It must be assigned before it is read. "
        "The shape may be known in part; what is known holds for every value. A variable that "
        "is a slice of a larger one says so in _slice_of, the whole's name, and _slice, its "
        "place there as checkpoints of TensorFlow write it: '10 4 0,5:0,4'. A variable with _local "
        "is no part of the model, such as the counters of a metric: savers leave it out, and it "
        "holds zeros until it is assigned (in the memory of a GPU, once its initializer has run).",
    .outputs = {ref("ref", "dtype")},
    .attrs = {{"shape", attr_kind::shape},
              {"dtype", any_type},
              {"container", ""},
              {"shared_name", ""},
              {"_slice_of", ""},
              {"_slice", ""},
              {"_local", false}},
    .effects = effect::stateful,
    .state_kind = resource::variable,
    .create_state = make,
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

extern constexpr op_def variable{
    .name = "Variable",
    .doc = "Holds a tensor from step to step, and outputs a reference to it.\n\n"
           "VariableV2, but that the shape [] means that nothing is known of it: for old graphs.",
    .outputs = {ref("ref", "dtype")},
    .attrs = {{"shape", attr_kind::shape},
              {"dtype", any_type},
              {"container", ""},
              {"shared_name", ""}},
    .effects = effect::stateful,
    .state_kind = resource::variable,
    .create_state = make_first,
    .infer = infer_first,
    .no_gradient = "it has no inputs",
    .example = R"(
v = Variable dtype=f32 shape=[2]
init = Assign(v, f32[1, 2])
target init
run
fetch v = f32[1, 2]
)",
};

extern constexpr op_def var_handle_op{
    .name = "VarHandleOp",
    .doc = "Holds a tensor from step to step, and outputs a handle of it.\n\n"
           "A handle is a reference, as VariableV2 gives it, and both may stand for one variable: "
           "that of the named container of its task, under shared_name or else the node's name. "
           "Graphs of TensorFlow 2 use handles. ReadVariableOp reads the variable where it stands "
           "among the updates; an op that wants a value, and is given a handle, reads right before "
           "it runs. debug_name and allowed_devices are kept for others, "
           "_slice_of, _slice and _local are those of VariableV2.",
    .outputs = {handle("resource", "dtype")},
    .attrs = {{"container", ""},
              {"shared_name", ""},
              {"debug_name", ""},
              {"dtype", any_type},
              {"shape", attr_kind::shape},
              {"allowed_devices", attr_kind::texts, true},
              {"_slice_of", ""},
              {"_slice", ""},
              {"_local", false}},
    .effects = effect::stateful,
    .state_kind = resource::variable,
    .create_state = make,
    .infer = infer::shape_attr,
    .no_gradient = "it has no inputs",
    .example = R"(
v = VarHandleOp dtype=f32 shape=[2]
init = AssignVariableOp(v, f32[1, 2])
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
    .effects = effect::stateful | effect::reads_shapes_only,
    .by_handle = {.name = "VarIsInitializedOp", .variable = "resource", .untyped = true},
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
    .by_handle = {.name = "ResourceCountUpTo", .variable = "resource"},
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
