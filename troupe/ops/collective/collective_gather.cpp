// CollectiveGather: joins tensors of several devices along the first axis, on all of them.
#include "troupe/ops/collective/shared/group.hpp"

namespace troupe::ops::collective_gather_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(check_timeout(at));
  return infer_first_axis(at, at.attr<int64_t>("group_size"), 1);
}

edges gradient(gradient_context& at) {
  return {gradient_member(at, "CollectiveReduceScatter", at.output_gradient(0), false)};
}

} // namespace

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
    .infer = infer,
    .gradient = gradient,
    .example = R"(
a = CollectiveGather(f32[[1, 2]]) group_size=2 group_key=1 instance_key=1 @"/cpu:0"
b = CollectiveGather(f32[[3, 4]]) group_size=2 group_key=1 instance_key=1 @"/cpu:0"
fetch a = f32[[1, 2], [3, 4]]
fetch b = f32[[1, 2], [3, 4]]
)",
};

} // namespace troupe::ops::collective_gather_op
