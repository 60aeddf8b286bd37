// QueueEnqueue: puts one element into a queue.
#include "troupe/ops/queue/shared/components.hpp"

namespace troupe::ops::queue_enqueue_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto queue, components_of(at, enqueued_types(at)));
  for (size_t i = 0; i < queue.dims.size(); ++i)
    if (const auto& given = at.input(static_cast<int>(i) + 1); !queue.dims[i].compatible(given))
      return at.invalid("component ", i, " must have shape ", queue.dims[i], ", got ", given);
  return shapes{};
}

} // namespace

extern constexpr op_def queue_enqueue{
    .name = "QueueEnqueue",
    .doc = "Puts an element into a queue, as soon as there is room.\n\n"
           "Fails with cancelled when the queue is closed. A positive timeout_ms bounds the wait.",
    .inputs = {ref("handle", "string", resource::queue), {"components", "Tcomponents"}},
    .attrs = {{"Tcomponents", attr_kind::types}, {"timeout_ms", -1}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer,
    .no_gradient = "queues do not carry gradients",
    .example = R"(
q = FIFOQueue component_types=[f32, i64]
put = QueueEnqueue(q, f32[1, 2], i64(7))
size = QueueSize(q)
target put
run
fetch size = i32(1)
)",
};

} // namespace troupe::ops::queue_enqueue_op
