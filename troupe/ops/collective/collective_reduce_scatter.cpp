// CollectiveReduceScatter: reduces tensors on several devices, and gives each its part of the
// result.
#include "troupe/ops/collective/shared/group.hpp"

namespace troupe::ops::collective_reduce_scatter_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(check_reduction(at));
  return infer_first_axis(at, 1, at.attr<int64_t>("group_size"));
}

edges gradient(gradient_context& at) {
  if (at.attr<std::string>("merge_op") != "Add")
    return at.fail("only sums and means over devices have one");
  auto all = gradient_member(at, "CollectiveGather", at.output_gradient(0), false);
  if (at.attr<std::string>("final_op") == "Id" || !all)
    return {all};
  auto members = tensor::scalar(at.attr<int64_t>("group_size"));
  auto divisor = at.op("Cast", {at.constant(members)}, {{"DstT", all.type()}});
  return {at.op("Div", {all, divisor})};
}

} // namespace

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
    .infer = infer,
    .gradient = gradient,
    .example = R"(
a = CollectiveReduceScatter(f32[1, 2]) group_size=2 group_key=1 instance_key=1 merge_op="Add" final_op="Id" @"/cpu:0"
b = CollectiveReduceScatter(f32[3, 5]) group_size=2 group_key=1 instance_key=1 merge_op="Add" final_op="Id" @"/cpu:0"
fetch a = f32[4]
fetch b = f32[7]
)",
};

} // namespace troupe::ops::collective_reduce_scatter_op
