// QueueEnqueueMany: puts a batch into a queue, element by element.
#include "troupe/ops/queue/shared/components.hpp"

namespace troupe::ops::queue_enqueue_many_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto queue, components_of(at, enqueued_types(at)));
  auto size = partial_shape::of_rank(1);
  for (size_t i = 0; i < queue.dims.size(); ++i) {
    const auto& given = at.input(static_cast<int>(i) + 1);
    if (given.rank() == 0)
      return at.invalid("component ", i, " must have an axis of elements, got a scalar");
    if (!given.has_rank())
      continue;
    auto joint = merge(size, partial_shape{given[0]});
    if (!joint)
      return at.invalid("component ", i, " has ", given[0], " elements, others have ", size[0]);
    size = *std::move(joint);
    if (auto wanted = batch_of(unknown_extent, queue.dims[i]); !wanted.compatible(given))
      return at.invalid("component ", i, " must have shape ", wanted, ", got ", given);
  }
  return shapes{};
}

} // namespace

extern constexpr op_def queue_enqueue_many{
    .name = "QueueEnqueueMany",
    .doc = "Cuts tensors along their first axis and puts the pieces into a queue, one element "
           "each.\n\n"
           "Waits for room before each element; elements that went in stay in if it fails later.",
    .inputs = {ref("handle", "string", resource::queue), {"components", "Tcomponents"}},
    .attrs = {{"Tcomponents", attr_kind::types}, {"timeout_ms", -1}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer,
    .no_gradient = "queues do not carry gradients",
    .example = R"(
q = FIFOQueue component_types=[f32]
put = QueueEnqueueMany(q, f32[1, 2, 3])
get = QueueDequeue(q) component_types=[f32]
target put
run
fetch get = f32(1)
run
fetch get = f32(2)
)",
};

} // namespace troupe::ops::queue_enqueue_many_op
