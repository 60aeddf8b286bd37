// Queues, and what is known of them.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::fifo_queue_op {
namespace {

result<shapes> infer_fifo_queue(const infer_context& at) {
  const auto& types = at.attr<std::vector<dtype>>("component_types");
  const auto& dims = at.attr<shapes>("shapes");
  if (types.empty())
    return at.invalid("component_types must name at least one type");
  if (!dims.empty() && dims.size() != types.size())
    return at.invalid("shapes must be empty or one for each of ", types.size(),
                      " component_types, got ", dims.size());
  return shapes{shape{}};
}

} // namespace

extern constexpr op_def fifo_queue{
    .name = "FIFOQueue",
    .doc = "Holds elements, each a tuple of tensors, that come out in the order in which they "
           "went in.\n\n"
           "The queue lives in the named container of its task, under shared_name or else the "
           "node's name; nodes of the same name share it. An enqueue waits while there are "
           "`capacity` elements (no limit for a negative one), a dequeue while there are none. "
           "DequeueMany needs `shapes`.",
    .outputs = {ref("handle", "string", resource::queue)},
    .attrs = {{"component_types", attr_kind::types},
              {"shapes", attr_kind::shapes, true},
              {"capacity", -1},
              {"container", ""},
              {"shared_name", ""}},
    .effects = effect::stateful,
    .makes = resource::queue,
    .infer = infer_fifo_queue,
    .no_gradient = "queues do not carry gradients",
    .example = R"(
q = FIFOQueue component_types=[f32] shapes=[[]] capacity=10
put = QueueEnqueue(q, f32(3))
get = QueueDequeue(q) component_types=[f32]
target put
run
fetch get = f32(3)
)",
};

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

extern constexpr op_def queue_size{
    .name = "QueueSize",
    .doc = "Counts the elements of a queue at this moment.",
    .inputs = {ref("handle", "string", resource::queue)},
    .outputs = {{"size", "i32"}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer::scalar,
    .no_gradient = "its output is a count",
    .example = R"(
q = FIFOQueue component_types=[f32]
put = QueueEnqueueMany(q, f32[1, 2, 3])
size = QueueSize(q)
fetch size = i32(0)
run
target put
run
fetch size = i32(3)
)",
};

} // namespace troupe::ops::fifo_queue_op
