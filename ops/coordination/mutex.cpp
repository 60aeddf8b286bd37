// Locks that steps hold across their nodes.
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/state/step_mutex.hpp"

namespace troupe::ops::mutex_op {
namespace {

result<std::unique_ptr<waitable_resource>> make(const node&, std::string name) {
  return std::unique_ptr<waitable_resource>{std::make_unique<step_mutex>(std::move(name))};
}

void ask_lock(waitable_resource& resource, question&& request, answers& done) {
  static_cast<step_mutex&>(resource).lock(request.id, done);
}

void ask_unlock(waitable_resource& resource, question&& request, answers& done) {
  static_cast<step_mutex&>(resource).unlock(request.id, done);
}

} // namespace

extern constexpr op_def mutex_v2{
    .name = "MutexV2",
    .doc = "Is a lock that one step holds at a time.\n\n"
           "Lives in the named container of its task, under shared_name or else the node's name.",
    .outputs = {ref("resource", "string", resource::mutex)},
    .attrs = {{"container", ""}, {"shared_name", ""}},
    .effects = effect::stateful,
    .state_kind = resource::mutex,
    .make_waitable_resource = make,
    .infer = infer::scalar,
    .no_gradient = "locks do not carry gradients",
    .example = R"(
mutex1 = MutexV2
lock = MutexLock(mutex1)
free = ConsumeMutexLock(lock)
target free
)",
};

extern constexpr op_def mutex_lock{
    .name = "MutexLock",
    .doc =
        "Waits until its step holds the lock.\n\n"
        "The step lets go of it by ConsumeMutexLock, or when it ends, however it ends. Steps get "
        "it in the order in which they asked; nodes of one step share it. Nodes that need it "
        "must come after this one, by a control edge.",
    .inputs = {ref("mutex", "string", resource::mutex)},
    .outputs = {ref("mutex_lock", "string", resource::mutex)},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_lock,
    .returns_answer_on_failure = true,
    .infer = infer::scalar,
    .no_gradient = "locks do not carry gradients",
    .example = R"(
mutex2 = MutexV2
lock = MutexLock(mutex2)
target lock
run
target lock
)",
};

extern constexpr op_def consume_mutex_lock{
    .name = "ConsumeMutexLock",
    .doc = "Lets go of a lock before the step's end.\n\n"
           "It must come after all that needs the lock, by control edges.",
    .inputs = {ref("mutex_lock", "string", resource::mutex)},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_unlock,
    .infer = infer::nothing,
    .no_gradient = "locks do not carry gradients",
    .example = R"(
mutex3 = MutexV2
lock = MutexLock(mutex3)
free = ConsumeMutexLock(lock)
target free
)",
};

} // namespace troupe::ops::mutex_op
