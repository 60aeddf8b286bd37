// QueueClose: says that no more elements will come.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::queue_close_op {

extern constexpr op_def queue_close{
    .name = "QueueClose",
    .doc = "Closes a queue: later enqueues fail, dequeues go on while there are elements.\n\n"
           "Enqueues that wait for room at that time may finish, unless cancel_pending_enqueues.",
    .inputs = {ref("handle", "string", resource::queue)},
    .attrs = {{"cancel_pending_enqueues", false}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer::nothing,
    .no_gradient = "queues do not carry gradients",
    .example = R"(
q = FIFOQueue component_types=[f32]
close = QueueClose(q)
get = QueueDequeue(q) component_types=[f32]
target close
run
fetch get
error out_of_range "closed"
)",
};

} // namespace troupe::ops::queue_close_op
