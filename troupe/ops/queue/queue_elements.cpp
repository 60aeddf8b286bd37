// Put elements into a queue and take them out, waiting for room or elements.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::queue_elements_op {
namespace {

// One declared shape for each component; unknown ones where the queue declares none, or is not
// known.
struct queue_components {
  std::vector<dtype> types;
  shapes dims;
};

// Checks that the queue behind input 0 holds elements of these types.
result<queue_components> components_of(const infer_context& at, std::vector<dtype> types) {
  queue_components found{std::move(types), {}};
  found.dims.resize(found.types.size());
  auto* queue = at.resource(0);
  if (!queue || queue->op().makes != resource::queue)
    return found;
  const auto& held = queue->attr<std::vector<dtype>>("component_types");
  if (held.size() != found.types.size())
    return at.invalid("queue '", queue->name(), "' holds elements of ", held.size(),
                      " components, not ", found.types.size());
  for (size_t i = 0; i < held.size(); ++i)
    if (held[i] != found.types[i])
      return at.invalid("component ", i, " of queue '", queue->name(), "' is ", held[i], ", not ",
                        found.types[i]);
  if (const auto& dims = queue->attr<shapes>("shapes"); dims.size() == found.dims.size())
    found.dims = dims;
  return found;
}

// The types of the inputs after the handle.
std::vector<dtype> enqueued_types(const infer_context& at) {
  std::vector<dtype> types;
  for (int i = 1; i < at.inputs(); ++i)
    types.push_back(at.input_type(i));
  return types;
}

// The types of all outputs.
std::vector<dtype> dequeued_types(const infer_context& at) {
  std::vector<dtype> types;
  for (int i = 0; i < at.outputs(); ++i)
    types.push_back(at.output_type(i));
  return types;
}

// A batch of elements of this shape: one more axis in front.
partial_shape batch_of(int64_t size, const partial_shape& dims) {
  if (!dims.has_rank())
    return dims;
  std::vector<int64_t> extents{size};
  extents.insert(extents.end(), dims.extents().begin(), dims.extents().end());
  return partial_shape{std::move(extents)};
}

result<shapes> infer_queue_enqueue(const infer_context& at) {
  TROUPE_ASSIGN(auto queue, components_of(at, enqueued_types(at)));
  for (size_t i = 0; i < queue.dims.size(); ++i)
    if (const auto& given = at.input(static_cast<int>(i) + 1); !queue.dims[i].compatible(given))
      return at.invalid("component ", i, " must have shape ", queue.dims[i], ", got ", given);
  return shapes{};
}

result<shapes> infer_queue_enqueue_many(const infer_context& at) {
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

result<shapes> infer_queue_dequeue(const infer_context& at) {
  TROUPE_ASSIGN(auto queue, components_of(at, dequeued_types(at)));
  return std::move(queue.dims);
}

result<shapes> infer_queue_dequeue_many(const infer_context& at) {
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

extern constexpr op_def queue_enqueue{
    .name = "QueueEnqueue",
    .doc = "Puts an element into a queue, as soon as there is room.\n\n"
           "Fails with cancelled when the queue is closed. A positive timeout_ms bounds the wait.",
    .inputs = {ref("handle", "string", resource::queue), {"components", "Tcomponents"}},
    .attrs = {{"Tcomponents", attr_kind::types}, {"timeout_ms", -1}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer_queue_enqueue,
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

extern constexpr op_def queue_enqueue_many{
    .name = "QueueEnqueueMany",
    .doc = "Cuts tensors along their first axis and puts the pieces into a queue, one element "
           "each.\n\n"
           "Waits for room before each element; elements that went in stay in if it fails later.",
    .inputs = {ref("handle", "string", resource::queue), {"components", "Tcomponents"}},
    .attrs = {{"Tcomponents", attr_kind::types}, {"timeout_ms", -1}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer_queue_enqueue_many,
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

extern constexpr op_def queue_dequeue{
    .name = "QueueDequeue",
    .doc = "Takes the first element from a queue, as soon as there is one.\n\n"
           "Fails with out_of_range when the queue is closed and empty. A positive timeout_ms "
           "bounds the wait.",
    .inputs = {ref("handle", "string", resource::queue)},
    .outputs = {{"components", "component_types"}},
    .attrs = {{"component_types", attr_kind::types}, {"timeout_ms", -1}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer_queue_dequeue,
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
    .infer = infer_queue_dequeue_many,
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

} // namespace troupe::ops::queue_elements_op
