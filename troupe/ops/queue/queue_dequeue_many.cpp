// QueueDequeueMany: takes a batch from a queue.
#include "troupe/ops/queue/shared/components.hpp"

namespace troupe::ops::queue_dequeue_many_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  TROUPE_ASSIGN(auto queue, components_of(at, dequeued_types(at)));
  auto size = unknown_extent;
  if (auto n = at.integers(1)) {
    size = n->front();
    if (size < 0)
      return at.invalid("n must not be negative, got ", size);
  }
  for (auto& dims : queue.dims)
    dims = batch_of(size, dims);
  return std::move(queue.dims);
}

} // namespace

extern constexpr op_def queue_dequeue_many{
    .name = "QueueDequeueMany",
    .doc =
        "Takes n elements from a queue and stacks them along a new first axis.\n\n"
        "Waits until there are n. The queue must declare the shapes of its components. Fails with "
        "out_of_range when the queue is closed and has fewer.",
    .inputs = {ref("handle", "string", resource::queue), on_host("n", "i32")},
    .outputs = {{"components", "component_types"}},
    .attrs = {{"component_types", attr_kind::types}, {"timeout_ms", -1}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer,
    .no_gradient = "queues do not carry gradients",
    .example = R"(
q = FIFOQueue component_types=[f32] shapes=[[]]
put = QueueEnqueueMany(q, f32[1, 2, 3])
get = QueueDequeueMany(q, i32(2)) component_types=[f32]
target put
run
fetch get = f32[1, 2]
)",
};

} // namespace troupe::ops::queue_dequeue_many_op
