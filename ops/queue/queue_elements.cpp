// Puts elements into a queue and takes them out, waiting for room or elements.
#include "troupe/ops/queue/shared/queue_of.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::queue_elements_op {
namespace {

// Checks that the queue of input 0 holds elements of these types. The result has one shape per
// component; shapes are unknown where the queue declares none, or is not known.
result<queue_components> queue_at(const infer_context& at, std::vector<dtype> types) {
  queue_components checked{std::move(types), {}};
  checked.shapes.resize(checked.types.size());
  auto* queue = at.resource(0);
  if (!queue || !queue->op().make_waitable_resource || queue->op().state_kind != resource::queue)
    return checked;
  auto queue_elements = components_of(*queue);
  if (queue_elements.types.size() != checked.types.size())
    return at.invalid("queue '", queue->name(), "' holds elements of ", queue_elements.types.size(),
                      " components, not ", checked.types.size());
  for (size_t i = 0; i < queue_elements.types.size(); ++i)
    if (queue_elements.types[i] != checked.types[i])
      return at.invalid("component ", i, " of queue '", queue->name(), "' is ",
                        queue_elements.types[i], ", not ", checked.types[i]);
  if (!queue_elements.shapes.empty())
    checked.shapes = std::move(queue_elements.shapes);
  return checked;
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

// The shape of a batch of such elements: one more leading axis.
partial_shape batch_of(int64_t size, const partial_shape& dims) {
  if (!dims.has_rank())
    return dims;
  std::vector<int64_t> extents{size};
  extents.insert(extents.end(), dims.extents().begin(), dims.extents().end());
  return partial_shape{std::move(extents)};
}

result<shapes> infer_queue_enqueue(const infer_context& at) {
  TROUPE_ASSIGN(auto queue, queue_at(at, enqueued_types(at)));
  for (size_t i = 0; i < queue.shapes.size(); ++i)
    if (const auto& input = at.input(static_cast<int>(i) + 1); !queue.shapes[i].compatible(input))
      return at.invalid("component ", i, " must have shape ", queue.shapes[i], ", got ", input);
  return shapes{};
}

result<shapes> infer_queue_enqueue_many(const infer_context& at) {
  TROUPE_ASSIGN(auto queue, queue_at(at, enqueued_types(at)));
  auto size = partial_shape::of_rank(1);
  for (size_t i = 0; i < queue.shapes.size(); ++i) {
    const auto& input = at.input(static_cast<int>(i) + 1);
    if (input.rank() == 0)
      return at.invalid("component ", i, " must have an axis of elements, got a scalar");
    if (!input.has_rank())
      continue;
    auto joint = merge(size, partial_shape{input[0]});
    if (!joint)
      return at.invalid("component ", i, " has ", input[0], " elements, others have ", size[0]);
    size = *std::move(joint);
    if (auto expected_shape = batch_of(unknown_extent, queue.shapes[i]);
        !expected_shape.compatible(input))
      return at.invalid("component ", i, " must have shape ", expected_shape, ", got ", input);
  }
  return shapes{};
}

result<shapes> infer_queue_dequeue(const infer_context& at) {
  TROUPE_ASSIGN(auto queue, queue_at(at, dequeued_types(at)));
  return std::move(queue.shapes);
}

// Padded extents depend on the batch, so they are unknown.
result<shapes> infer_batch(const infer_context& at, bool up_to) {
  TROUPE_TRY(at.of_rank(1, 0));
  TROUPE_ASSIGN(auto queue, queue_at(at, dequeued_types(at)));
  auto size = unknown_extent;
  if (auto n = at.integers(1)) {
    if (n->front() < 0)
      return at.invalid("n must not be negative, got ", n->front());
    if (!up_to)
      size = n->front();
  }
  for (auto& dims : queue.shapes)
    dims = batch_of(size, dims);
  return std::move(queue.shapes);
}

result<shapes> infer_queue_dequeue_many(const infer_context& at) { return infer_batch(at, false); }
result<shapes> infer_queue_dequeue_up_to(const infer_context& at) { return infer_batch(at, true); }

void ask_enqueue(waitable_resource& resource, question&& request, answers& done) {
  as_queue(resource).enqueue(request.id, std::move(request.inputs), done);
}

void ask_enqueue_many(waitable_resource& resource, question&& request, answers& done) {
  as_queue(resource).enqueue_many(request.id, std::move(request.inputs), done);
}

void ask_dequeue(waitable_resource& resource, question&& request, answers& done) {
  auto drops = request.origin->attr<bool>("drop_if_step_fails");
  as_queue(resource).dequeue(request.id, {.return_on_failure = !drops}, done);
}

void ask_batch(waitable_resource& resource, const question& request, bool up_to, answers& done) {
  const auto& count = request.inputs.at(0);
  if (count.elements() != 1 || count.type() != dtype::i32) {
    done.push_back({request.id, invalid("n must be one i32, got ", count)});
    return;
  }
  as_queue(resource).dequeue(
      request.id,
      {.count = *count.data<int32_t>(),
       .as_batch = true,
       .up_to = up_to,
       .return_on_failure = !request.origin->attr<bool>("drop_if_step_fails")},
      done);
}

void ask_dequeue_many(waitable_resource& resource, question&& request, answers& done) {
  ask_batch(resource, request, false, done);
}

void ask_dequeue_up_to(waitable_resource& resource, question&& request, answers& done) {
  ask_batch(resource, request, true, done);
}

} // namespace

extern constexpr op_def queue_enqueue{
    .name = "QueueEnqueue",
    .second_name = "QueueEnqueueV2",
    .doc = "Puts an element into a queue, as soon as there is room.\n\n"
           "Fails with cancelled when the queue is closed. A positive timeout_ms bounds the wait.",
    .inputs = {ref("handle", "string", resource::queue), {"components", "Tcomponents"}},
    .attrs = {{"Tcomponents", attr_kind::types}, {"timeout_ms", -1}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_enqueue,
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
    .second_name = "QueueEnqueueManyV2",
    .doc = "Cuts tensors along their first axis and puts the pieces into a queue, one element "
           "each.\n\n"
           "Waits for room before each element; elements that went in stay in if it fails later.",
    .inputs = {ref("handle", "string", resource::queue), {"components", "Tcomponents"}},
    .attrs = {{"Tcomponents", attr_kind::types}, {"timeout_ms", -1}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_enqueue_many,
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
    .second_name = "QueueDequeueV2",
    .doc =
        "Takes the first element from a queue, as soon as there is one.\n\n"
        "Fails with out_of_range when the queue is closed and empty. A positive timeout_ms "
        "bounds the wait. The element goes back to the front of the queue if the step fails later, "
        "unless drop_if_step_fails.",
    .inputs = {ref("handle", "string", resource::queue)},
    .outputs = {{"components", "component_types"}},
    .attrs = {{"component_types", attr_kind::types},
              {"timeout_ms", -1},
              {"drop_if_step_fails", false}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_dequeue,
    .returns_answer_on_failure = true,
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
    .second_name = "QueueDequeueManyV2",
    .doc = "Takes n elements from a queue and stacks them along a new first axis.\n\n"
           "Waits until there are n. Their shapes must be equal, unless the queue pads. Fails with "
           "out_of_range when the queue is closed and has fewer.",
    .inputs = {ref("handle", "string", resource::queue), on_host("n", "i32")},
    .outputs = {{"components", "component_types"}},
    .attrs = {{"component_types", attr_kind::types},
              {"timeout_ms", -1},
              {"drop_if_step_fails", false}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_dequeue_many,
    .returns_answer_on_failure = true,
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

extern constexpr op_def queue_dequeue_up_to{
    .name = "QueueDequeueUpTo",
    .second_name = "QueueDequeueUpToV2",
    .doc =
        "Takes n elements from a queue, or what is left when it is closed, and stacks them along "
        "a new first axis.\n\n"
        "Like QueueDequeueMany until the queue is closed; then it takes fewer, and fails with "
        "out_of_range when there are none.",
    .inputs = {ref("handle", "string", resource::queue), on_host("n", "i32")},
    .outputs = {{"components", "component_types"}},
    .attrs = {{"component_types", attr_kind::types},
              {"timeout_ms", -1},
              {"drop_if_step_fails", false}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_dequeue_up_to,
    .returns_answer_on_failure = true,
    .infer = infer_queue_dequeue_up_to,
    .no_gradient = "queues do not carry gradients",
    .example = R"(
q = FIFOQueue component_types=[f32] shapes=[[]]
put = QueueEnqueueMany(q, f32[1, 2, 3])
close = QueueClose(q)
get = QueueDequeueUpTo(q, i32(2)) component_types=[f32]
target put
run
target close
run
fetch get = f32[1, 2]
run
fetch get = f32[3]
run
fetch get
error out_of_range "closed"
)",
};

} // namespace troupe::ops::queue_elements_op
