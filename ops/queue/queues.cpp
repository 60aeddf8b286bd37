// Definitions of the queues, and ops on their size and state.
#include "troupe/ops/queue/shared/queue_of.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::queues_op {
namespace {

status check_components(const infer_context& at) {
  const auto& types = at.attr<std::vector<dtype>>("component_types");
  const auto& dims = at.attr<shapes>("shapes");
  if (!dims.empty() && dims.size() != types.size())
    return at.invalid("shapes must be empty or one for each of ", types.size(),
                      " component_types, got ", dims.size());
  return {};
}

result<shapes> infer_queue(const infer_context& at) {
  if (at.attr<std::vector<dtype>>("component_types").empty())
    return at.invalid("component_types must name at least one type");
  TROUPE_TRY(check_components(at));
  return shapes{shape{}};
}

result<shapes> infer_random_shuffle_queue(const infer_context& at) {
  auto capacity = at.attr<int64_t>("capacity"), least = at.attr<int64_t>("min_after_dequeue");
  if (least < 0)
    return at.invalid("min_after_dequeue must not be negative, got ", least);
  if (capacity >= 0 && least > 0 && least >= capacity)
    return at.invalid("min_after_dequeue (", least, ") must be less than the capacity (", capacity,
                      ")");
  return infer_queue(at);
}

result<shapes> infer_padding_fifo_queue(const infer_context& at) {
  const auto& dims = at.attr<shapes>("shapes");
  if (dims.empty())
    return at.invalid("shapes must say the rank of each component, got none");
  for (size_t i = 0; i < dims.size(); ++i)
    if (!dims[i].has_rank())
      return at.invalid("shapes must say the rank of each component, and component ", i,
                        " has none");
  return infer_queue(at);
}

result<shapes> infer_priority_queue(const infer_context& at) {
  TROUPE_TRY(check_components(at));
  return shapes{shape{}};
}

void ask_close(waitable_resource& resource, question&& request, answers& done) {
  as_queue(resource).close(request.origin->attr<bool>("cancel_pending_enqueues"), done);
  done.push_back({request.id, {}});
}

void ask_size(waitable_resource& resource, question&& request, answers& done) {
  auto size = static_cast<int32_t>(as_queue(resource).size());
  done.push_back({request.id, {}, {tensor::scalar(size)}});
}

void ask_is_closed(waitable_resource& resource, question&& request, answers& done) {
  done.push_back({request.id, {}, {tensor::scalar(as_queue(resource).closed())}});
}

} // namespace

extern constexpr op_def fifo_queue{
    .name = "FIFOQueue",
    .second_name = "FIFOQueueV2",
    .doc = "Holds elements, each a tuple of tensors, that come out in the order in which they "
           "went in.\n\n"
           "The queue lives in the named container of its task, under shared_name or else the "
           "node's name; nodes of the same name share it. An enqueue waits while there are "
           "`capacity` elements (no limit for a negative one), a dequeue while there are none. "
           "What a step takes out goes back to the front if the step fails.",
    .outputs = {ref("handle", "string", resource::queue)},
    .attrs = {{"component_types", attr_kind::types},
              {"shapes", attr_kind::shapes, true},
              {"capacity", -1},
              {"container", ""},
              {"shared_name", ""}},
    .effects = effect::stateful,
    .state_kind = resource::queue,
    .make_waitable_resource = make_fifo_queue,
    .infer = infer_queue,
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

extern constexpr op_def random_shuffle_queue{
    .name = "RandomShuffleQueue",
    .second_name = "RandomShuffleQueueV2",
    .doc = "Holds elements that come out in random order.\n\n"
           "Like FIFOQueue, but a dequeue takes any element, each with the same chance, and waits "
           "while it would leave fewer than `min_after_dequeue`, until the queue is closed. The "
           "same seeds and the same order of requests give the same elements; without seeds, each "
           "queue draws its own.",
    .outputs = {ref("handle", "string", resource::queue)},
    .attrs = {{"component_types", attr_kind::types},
              {"shapes", attr_kind::shapes, true},
              {"capacity", -1},
              {"min_after_dequeue", 0},
              {"seed", 0},
              {"seed2", 0},
              {"container", ""},
              {"shared_name", ""}},
    .effects = effect::stateful,
    .state_kind = resource::queue,
    .make_waitable_resource = make_random_shuffle_queue,
    .infer = infer_random_shuffle_queue,
    .no_gradient = "queues do not carry gradients",
    .example = R"(
q = RandomShuffleQueue component_types=[f32] shapes=[[]] min_after_dequeue=1 seed=1
put = QueueEnqueueMany(q, f32[5, 5, 5])
get = QueueDequeueMany(q, i32(2)) component_types=[f32]
target put
run
fetch get = f32[5, 5]
)",
};

extern constexpr op_def padding_fifo_queue{
    .name = "PaddingFIFOQueue",
    .second_name = "PaddingFIFOQueueV2",
    .doc = "Holds elements of different extents, which zeros make equal in a batch.\n\n"
           "Like FIFOQueue, but `shapes` must say the rank of each component and may leave extents "
           "unknown (-1). QueueDequeueMany and QueueDequeueUpTo give each such axis the largest "
           "extent of the batch, and fill up with zeros, or empty strings, at the end.",
    .outputs = {ref("handle", "string", resource::queue)},
    .attrs = {{"component_types", attr_kind::types},
              {"shapes", attr_kind::shapes, true},
              {"capacity", -1},
              {"container", ""},
              {"shared_name", ""}},
    .effects = effect::stateful,
    .state_kind = resource::queue,
    .make_waitable_resource = make_padding_fifo_queue,
    .infer = infer_padding_fifo_queue,
    .no_gradient = "queues do not carry gradients",
    .example = R"(
q = PaddingFIFOQueue component_types=[f32] shapes=[[-1]]
one = QueueEnqueue(q, f32[1, 2])
two = QueueEnqueue(q, f32[3])
get = QueueDequeueMany(q, i32(2)) component_types=[f32]
target one
run
target two
run
fetch get = f32[[1, 2], [3, 0]]
)",
};

extern constexpr op_def priority_queue{
    .name = "PriorityQueue",
    .second_name = "PriorityQueueV2",
    .doc =
        "Holds elements that come out in the order of their priorities, the least first.\n\n"
        "Like FIFOQueue, but each element has one more component before those that "
        "`component_types` and `shapes` describe: its priority, an i64 scalar. Elements of equal "
        "priority come out in the order in which they went in.",
    .outputs = {ref("handle", "string", resource::queue)},
    .attrs = {{"component_types", attr_kind::types, true},
              {"shapes", attr_kind::shapes, true},
              {"capacity", -1},
              {"container", ""},
              {"shared_name", ""}},
    .effects = effect::stateful,
    .state_kind = resource::queue,
    .make_waitable_resource = make_priority_queue,
    .infer = infer_priority_queue,
    .no_gradient = "queues do not carry gradients",
    .example = R"(
q = PriorityQueue component_types=[f32] shapes=[[]]
put = QueueEnqueueMany(q, i64[7, 1, 3], f32[0.7, 0.1, 0.3])
get = QueueDequeue(q) component_types=[i64, f32]
target put
run
fetch get:1 = f32(0.1)
)",
};

extern constexpr op_def queue_close{
    .name = "QueueClose",
    .second_name = "QueueCloseV2",
    .doc = "Closes a queue: later enqueues fail, dequeues go on while there are elements.\n\n"
           "Enqueues that wait for room at that time may finish, unless cancel_pending_enqueues.",
    .inputs = {ref("handle", "string", resource::queue)},
    .attrs = {{"cancel_pending_enqueues", false}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_close,
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

extern constexpr op_def queue_is_closed{
    .name = "QueueIsClosed",
    .second_name = "QueueIsClosedV2",
    .doc = "Says whether a queue has been closed.",
    .inputs = {ref("handle", "string", resource::queue)},
    .outputs = {{"is_closed", "bool"}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_is_closed,
    .infer = infer::scalar,
    .no_gradient = "its output is a truth value",
    .example = R"(
q = FIFOQueue component_types=[f32]
close = QueueClose(q)
closed = QueueIsClosed(q)
fetch closed = bool(false)
run
target close
run
fetch closed = bool(true)
)",
};

extern constexpr op_def queue_size{
    .name = "QueueSize",
    .second_name = "QueueSizeV2",
    .doc = "Counts the elements of a queue at this moment.",
    .inputs = {ref("handle", "string", resource::queue)},
    .outputs = {{"size", "i32"}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_size,
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

} // namespace troupe::ops::queues_op
