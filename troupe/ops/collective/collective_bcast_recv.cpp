// CollectiveBcastRecv: gets a tensor from another device.
#include "troupe/ops/collective/shared/group.hpp"

namespace troupe::ops::collective_bcast_recv_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(check_timeout(at));
  return infer::shape_attr(at);
}

} // namespace

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
    .infer = infer,
    .no_gradient = "receivers have no input through which it could come back: give each device a "
                   "part of a sum (CollectiveReduce) instead",
    .example = R"(
a = CollectiveBcastSend(f32[1, 2]) group_size=2 group_key=1 instance_key=1 @"/cpu:0"
b = CollectiveBcastRecv T=f32 shape=[2] group_size=2 group_key=1 instance_key=1 @"/cpu:0"
fetch a = f32[1, 2]
fetch b = f32[1, 2]
)",
};

} // namespace troupe::ops::collective_bcast_recv_op
