// CollectiveReduce: the sum, or another reduction, of tensors on several devices, on all of them.
#include "troupe/ops/collective/shared/group.hpp"

namespace troupe::ops::collective_reduce_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(check_reduction(at));
  return shapes{at.input(0)};
}

// What each member's output does to y, its input does through the outputs of all.
edges gradient(gradient_context& at) {
  if (at.attr<std::string>("merge_op") != "Add")
    return at.fail("only sums and means over devices have one");
  auto mean = at.attr<std::string>("final_op") == "Div";
  return {gradient_member(at, "CollectiveReduce", at.output_gradient(0), mean)};
}

} // namespace

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
    .infer = infer,
    .gradient = gradient,
    .example = R"(
a = CollectiveReduce(f32[1, 2]) group_size=2 group_key=1 instance_key=1 merge_op="Add" final_op="Id" @"/cpu:0"
b = CollectiveReduce(f32[3, 5]) group_size=2 group_key=1 instance_key=1 merge_op="Add" final_op="Id" @"/cpu:0"
fetch a = f32[4, 7]
fetch b = f32[4, 7]
)",
};

} // namespace troupe::ops::collective_reduce_op
