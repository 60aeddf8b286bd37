// QueueDequeue: takes one element from a queue.
#include "troupe/ops/queue/shared/components.hpp"

namespace troupe::ops::queue_dequeue_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto queue, components_of(at, dequeued_types(at)));
  return std::move(queue.dims);
}

} // namespace

extern constexpr op_def queue_dequeue{
    .name = "QueueDequeue",
    .doc = "Takes the first element from a queue, as soon as there is one.\n\n"
           "Fails with out_of_range when the queue is closed and empty. A positive timeout_ms "
           "bounds the wait.",
    .inputs = {ref("handle", "string", resource::queue)},
    .outputs = {{"components", "component_types"}},
    .attrs = {{"component_types", attr_kind::types}, {"timeout_ms", -1}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer,
    .no_gradient = "queues do not carry gradients",
    .example = R"(
q = FIFOQueue component_types=[f32, string]
put = QueueEnqueue(q, f32[1, 2], string("a"))
get = QueueDequeue(q) component_types=[f32, string]
target put
run
fetch get = f32[1, 2]
fetch get:1 = string("a")
)",
};

} // namespace troupe::ops::queue_dequeue_op
