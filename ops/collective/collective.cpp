// Collective ops: each device of a group contributes its part and gets its part of the result.
#include "troupe/ops/collective/shared/group.hpp"

namespace troupe::ops::collective_op {
namespace {

result<shapes> infer_collective_bcast_send(const infer_context& at) {
  TROUPE_TRY(check_timeout(at));
  const auto& declared_shape = at.attr<partial_shape>("shape");
  if (!declared_shape.compatible(at.input(0)))
    return at.invalid("shape says ", declared_shape, ", but the input has shape ", at.input(0));
  return shapes{at.input(0)};
}

result<shapes> infer_collective_bcast_recv(const infer_context& at) {
  TROUPE_TRY(check_timeout(at));
  return infer::shape_attr(at);
}

result<shapes> infer_collective_gather(const infer_context& at) {
  TROUPE_TRY(check_timeout(at));
  return infer_first_axis(at, at.attr<int64_t>("group_size"), 1);
}

edges collective_gather_gradient(gradient_context& at) {
  return {gradient_member(at, "CollectiveReduceScatter", at.output_gradient(0), false)};
}

result<shapes> infer_collective_reduce(const infer_context& at) {
  TROUPE_TRY(check_reduction(at));
  return shapes{at.input(0)};
}

// The gradient of a member's input comes from the output gradients of all members.
edges collective_reduce_gradient(gradient_context& at) {
  if (at.attr<std::string>("merge_op") != "Add")
    return at.fail("only sums and means over devices have one");
  auto mean = at.attr<std::string>("final_op") == "Div";
  return {gradient_member(at, "CollectiveReduce", at.output_gradient(0), mean)};
}

result<shapes> infer_collective_reduce_scatter(const infer_context& at) {
  TROUPE_TRY(check_reduction(at));
  return infer_first_axis(at, 1, at.attr<int64_t>("group_size"));
}

edges collective_reduce_scatter_gradient(gradient_context& at) {
  if (at.attr<std::string>("merge_op") != "Add")
    return at.fail("only sums and means over devices have one");
  auto gathered = gradient_member(at, "CollectiveGather", at.output_gradient(0), false);
  if (at.attr<std::string>("final_op") == "Id" || !gathered)
    return {gathered};
  auto members = tensor::scalar(at.attr<int64_t>("group_size"));
  auto divisor = at.op("Cast", {at.constant(members)}, {{"DstT", gathered.type()}});
  return {at.op("Div", {gathered, divisor})};
}

} // namespace

extern constexpr op_def collective_bcast_send{
    .name = "CollectiveBcastSend",
    .doc = "Gives a tensor to the devices of a group, each of which has a CollectiveBcastRecv.\n\n"
           "The members are the nodes of one step that have the same group_key and instance_key, "
           "group_size in all, on devices of one kind and one task; they wait for each other. "
           "The output is the input. The step's deadline bounds the wait, "
           "timeout_seconds must be 0; communication_hint is a hint that is not needed.",
    .inputs = {{"input", "T"}},
    .outputs = {{"data", "T"}},
    .attrs = {{"T", exchanged_types | dtype_set{dtype::boolean}},
              {"group_size", at_least{1}},
              {"group_key", attr_kind::integer},
              {"instance_key", attr_kind::integer},
              {"shape", attr_kind::shape, true},
              {"communication_hint", "auto"},
              {"timeout_seconds", 0.0}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer_collective_bcast_send,
    .no_gradient = "receivers have no input through which it could come back: give each device a "
                   "part of a sum (CollectiveReduce) instead",
    .example = R"(
a = CollectiveBcastSend(f32[1, 2]) group_size=2 group_key=1 instance_key=1 @"/cpu:0"
b = CollectiveBcastRecv T=f32 shape=[2] group_size=2 group_key=1 instance_key=1 @"/cpu:0"
fetch a = f32[1, 2]
fetch b = f32[1, 2]
)",
};

extern constexpr op_def collective_bcast_recv{
    .name = "CollectiveBcastRecv",
    .doc = "Gets the tensor that a CollectiveBcastSend on another device gives to its group.\n\n"
           "The members are the nodes of one step that have the same group_key and instance_key, "
           "group_size in all, on devices of one kind and one task; they wait for each other. "
           "Where shape is unknown, the output is what comes. The step's deadline bounds the wait, "
           "timeout_seconds must be 0; communication_hint is a hint that is not needed.",
    .outputs = {{"data", "T"}},
    .attrs = {{"T", exchanged_types | dtype_set{dtype::boolean}},
              {"group_size", at_least{1}},
              {"group_key", attr_kind::integer},
              {"instance_key", attr_kind::integer},
              {"shape", attr_kind::shape, true},
              {"communication_hint", "auto"},
              {"timeout_seconds", 0.0}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer_collective_bcast_recv,
    .no_gradient = "receivers have no input through which it could come back: give each device a "
                   "part of a sum (CollectiveReduce) instead",
    .example = R"(
a = CollectiveBcastSend(f32[1, 2]) group_size=2 group_key=1 instance_key=1 @"/cpu:0"
b = CollectiveBcastRecv T=f32 shape=[2] group_size=2 group_key=1 instance_key=1 @"/cpu:0"
fetch a = f32[1, 2]
fetch b = f32[1, 2]
)",
};

extern constexpr op_def collective_gather{
    .name = "CollectiveGather",
    .doc = "Joins tensors of equal shape on several devices along their first axis, and gives each "
           "device the result.\n\n"
           "The members are the nodes of one step that have the same group_key and instance_key, "
           "group_size in all, on devices of one kind and one task; they wait for each other. "
           "Their order is that of the devices, on one device that of their names. The gradient of "
           "an input is its part of the sum of the gradients of all members. The step's deadline "
           "bounds the wait, timeout_seconds must be 0; communication_hint and shape are hints "
           "that are not needed.",
    .inputs = {{"input", "T"}},
    .outputs = {{"data", "T"}},
    .attrs = {{"T", exchanged_types},
              {"group_size", at_least{1}},
              {"group_key", attr_kind::integer},
              {"instance_key", attr_kind::integer},
              {"shape", attr_kind::shape, true},
              {"communication_hint", "auto"},
              {"timeout_seconds", 0.0}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer_collective_gather,
    .gradient = collective_gather_gradient,
    .example = R"(
a = CollectiveGather(f32[[1, 2]]) group_size=2 group_key=1 instance_key=1 @"/cpu:0"
b = CollectiveGather(f32[[3, 4]]) group_size=2 group_key=1 instance_key=1 @"/cpu:0"
fetch a = f32[[1, 2], [3, 4]]
fetch b = f32[[1, 2], [3, 4]]
)",
};

extern constexpr op_def collective_reduce{
    .name = "CollectiveReduce",
    .doc =
        "Reduces tensors of equal shape on several devices, and gives each device the result.\n\n"
        "The members are the nodes of one step that have the same group_key and instance_key, "
        "group_size in all, on devices of one kind and one task; they wait for each other. "
        "Their order is that of the devices, on one device that of their names. final_op Div makes "
        "a mean of a sum. The gradient is the reduction of the gradients of all members. The "
        "step's deadline bounds the wait, timeout_seconds must be 0; communication_hint, "
        "subdiv_offsets and wait_for are hints that are not needed.",
    .inputs = {{"input", "T"}},
    .outputs = {{"data", "T"}},
    .attrs = {{"T", exchanged_types},
              {"group_size", at_least{1}},
              {"group_key", attr_kind::integer},
              {"instance_key", attr_kind::integer},
              {"merge_op", attr_kind::text},
              {"final_op", attr_kind::text},
              {"subdiv_offsets", attr_kind::integers, true},
              {"wait_for", attr_kind::integers, true},
              {"communication_hint", "auto"},
              {"timeout_seconds", 0.0}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer_collective_reduce,
    .gradient = collective_reduce_gradient,
    .example = R"(
a = CollectiveReduce(f32[1, 2]) group_size=2 group_key=1 instance_key=1 merge_op="Add" final_op="Id" @"/cpu:0"
b = CollectiveReduce(f32[3, 5]) group_size=2 group_key=1 instance_key=1 merge_op="Add" final_op="Id" @"/cpu:0"
fetch a = f32[4, 7]
fetch b = f32[4, 7]
)",
};

extern constexpr op_def collective_reduce_scatter{
    .name = "CollectiveReduceScatter",
    .doc = "Reduces tensors of equal shape on several devices, cuts the result along its first "
           "axis, and gives each device its part.\n\n"
           "The members are the nodes of one step that have the same group_key and instance_key, "
           "group_size in all, on devices of one kind and one task; they wait for each other. "
           "Their order is that of the devices, on one device that of their names. final_op Div "
           "makes a mean of a sum. What TensorFlow's CollectiveReduceScatterV2 does, with "
           "attributes for its keys. The step's deadline bounds the wait, timeout_seconds must be "
           "0; communication_hint and wait_for are hints that are not needed.",
    .inputs = {{"input", "T"}},
    .outputs = {{"data", "T"}},
    .attrs = {{"T", exchanged_types},
              {"group_size", at_least{1}},
              {"group_key", attr_kind::integer},
              {"instance_key", attr_kind::integer},
              {"merge_op", attr_kind::text},
              {"final_op", attr_kind::text},
              {"wait_for", attr_kind::integers, true},
              {"communication_hint", "auto"},
              {"timeout_seconds", 0.0}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer_collective_reduce_scatter,
    .gradient = collective_reduce_scatter_gradient,
    .example = R"(
a = CollectiveReduceScatter(f32[1, 2]) group_size=2 group_key=1 instance_key=1 merge_op="Add" final_op="Id" @"/cpu:0"
b = CollectiveReduceScatter(f32[3, 5]) group_size=2 group_key=1 instance_key=1 merge_op="Add" final_op="Id" @"/cpu:0"
fetch a = f32[4]
fetch b = f32[7]
)",
};

} // namespace troupe::ops::collective_op
