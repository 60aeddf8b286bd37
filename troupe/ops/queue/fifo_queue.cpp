// FIFOQueue: hands elements from step to step, in their order.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::fifo_queue_op {
namespace {

result<shapes> infer(const infer_context& at) {
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
    .infer = infer,
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

} // namespace troupe::ops::fifo_queue_op
