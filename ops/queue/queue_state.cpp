// Saves the elements of a queue to a checkpoint, and restores them.
#include "troupe/ops/queue/shared/queue_of.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/state/saved_state.hpp"

namespace troupe::ops::queue_state_op {
namespace {

void ask_state(waitable_resource& resource, question&& request, answers& done) {
  answer_with_state(as_queue(resource), request, done);
}

void ask_restore(waitable_resource& resource, question&& request, answers& done) {
  restore_state(as_queue(resource), request, done);
}

void ask_suspend(waitable_resource& resource, question&& request, answers& done) {
  as_queue(resource).suspend(request.origin->attr<bool>("suspended"), done);
  done.push_back({request.id, {}});
}

} // namespace

extern constexpr op_def queue_serialize_state{
    .name = "QueueSerializeState",
    .doc = "Gives what a queue holds, as bytes for QueueRestoreState.\n\n"
           "Elements that running steps have taken are among them, as if these steps had failed; "
           "what waits to be put in is not. Whether the queue is closed, and where the random "
           "numbers of a RandomShuffleQueue stand, is said, too. Fails for a queue in the memory "
           "of a GPU.",
    .inputs = {ref("handle", "string", resource::queue)},
    .outputs = {{"state", "string"}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_state,
    .infer = infer::scalar,
    .no_gradient = "queues do not carry gradients",
    .example = R"(
q = FIFOQueue component_types=[f32]
put = QueueEnqueueMany(q, f32[1, 2])
state = QueueSerializeState(q)
again = FIFOQueue component_types=[f32]
restore = QueueRestoreState(again, state)
get = QueueDequeue(again) component_types=[f32]
target put
run
target restore
run
fetch get = f32(1)
)",
};

extern constexpr op_def queue_restore_state{
    .name = "QueueRestoreState",
    .doc = "Makes a queue hold what another one, of elements of the same types, has held.\n\n"
           "What it held before is dropped. It may hold more than its capacity then.",
    .inputs = {ref("handle", "string", resource::queue), {"state", "string"}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_restore,
    .infer = infer::nothing,
    .no_gradient = "queues do not carry gradients",
    .example = R"(
q = FIFOQueue component_types=[f32]
restore = QueueRestoreState(q, string("nonsense"))
target restore
error invalid_argument "queue 'q': 8 bytes are not the state of a queue"
)",
};

extern constexpr op_def queue_suspend{
    .name = "QueueSuspend",
    .doc = "Lets nothing wait for a queue, until it is told so again with suspended=false.\n\n"
           "Who puts in is answered at once, whatever the capacity; who takes out, or waits for "
           "that, fails with cancelled. So the steps that fill queues end, and all queues can be "
           "saved as of one moment.",
    .inputs = {ref("handle", "string", resource::queue)},
    .attrs = {{"suspended", true}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_suspend,
    .infer = infer::nothing,
    .no_gradient = "queues do not carry gradients",
    .example = R"(
q = FIFOQueue component_types=[f32] capacity=1
put = QueueEnqueueMany(q, f32[1, 2, 3])
hold = QueueSuspend(q)
go = QueueSuspend(q) suspended=false
get = QueueDequeue(q) component_types=[f32]
target hold
run
target put
run
fetch get
error cancelled "is suspended"
run
target go
run
fetch get = f32(1)
)",
};

} // namespace troupe::ops::queue_state_op
