#include "troupe/actors/queue.hpp"

#include "troupe/actors/messages.hpp"
#include "troupe/runtime/graph.hpp"
#include "troupe/runtime/queue.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <unordered_map>

namespace troupe {
namespace {

struct asker {
  uint32_t wait = 0;
  caf::actor region;
};

struct queue_state {
  explicit queue_state() {}
  static inline const char* name = "troupe.queue";
  std::unique_ptr<fifo_queue> queue;
  std::unordered_map<uint64_t, asker> waiting; // by request
  uint64_t next_request = 1;
};

using self_ptr = caf::stateful_actor<queue_state>*;

void answer(self_ptr self, const fifo_queue::completions& done) {
  auto& waiting = self->state.waiting;
  for (const auto& one : done)
    if (auto it = waiting.find(one.who.request); it != waiting.end()) {
      self->send(it->second.region, wait_answer{it->second.wait, one.outcome, one.tensors});
      waiting.erase(it);
    }
}

void serve(self_ptr self, queue_wait& what) {
  auto& state = self->state;
  const auto& op = what.origin->op().name;
  const auto& attrs = what.origin->attrs();
  troupe::queue_request who{what.step, state.next_request++};
  auto region = what.region;
  auto reply_now = [&](status outcome, std::vector<tensor> values) {
    self->send(region, wait_answer{what.wait, std::move(outcome), std::move(values)});
  };
  fifo_queue::completions done;
  state.waiting.emplace(who.request, asker{what.wait, region});
  if (op == "QueueEnqueue") {
    state.queue->enqueue(who, std::move(what.inputs), done);
  } else if (op == "QueueEnqueueMany") {
    state.queue->enqueue_many(who, std::move(what.inputs), done);
  } else if (op == "QueueDequeue") {
    state.queue->dequeue(who, done);
  } else if (op == "QueueDequeueMany") {
    auto count = what.inputs.at(0);
    if (count.elements() != 1 || count.type() != dtype::i32)
      done.push_back({who, invalid("n must be one i32, got ", count), {}});
    else
      state.queue->dequeue_many(who, *count.data<int32_t>(), done);
  } else {
    state.waiting.erase(who.request);
    if (op == "QueueClose") {
      state.queue->close(attr<bool>(attrs, "cancel_pending_enqueues"), done);
      reply_now({}, {});
    } else if (op == "QueueSize") {
      reply_now({}, {tensor::scalar(static_cast<int32_t>(state.queue->size()))});
    } else {
      reply_now(failure(error_kind::unimplemented, what.origin->description(),
                        ": queues do not know this operation"),
                {});
    }
  }
  // Errors name the node that asked; the queue names itself.
  for (auto& one : done)
    if (one.who == who && !one.outcome)
      one.outcome = std::move(one.outcome).within(what.origin->description());
  answer(self, done);
}

caf::behavior queue_behavior(self_ptr self, const std::shared_ptr<fifo_queue>& queue) {
  self->state.queue = std::make_unique<fifo_queue>(std::move(*queue));
  self->set_default_handler(caf::drop);
  return {
      [=](queue_wait& what) { serve(self, what); },
      [=](const queue_cancel& what) {
        fifo_queue::completions done;
        self->state.queue->cancel(what.step, failure(error_kind::cancelled, "the step has failed"), done);
        for (const auto& one : done) // nobody listens to a failed step's waits any more
          self->state.waiting.erase(one.who.request);
      },
  };
}

} // namespace

result<caf::actor> spawn_queue(caf::actor_system& system, const node& maker) {
  auto made = fifo_queue::make({.name = maker.name(),
                                .capacity = maker.attr<int64_t>("capacity"),
                                .types = maker.attr<std::vector<dtype>>("component_types"),
                                .shapes = maker.attr<std::vector<partial_shape>>("shapes")});
  if (!made)
    return made.status().within(maker.description());
  return system.spawn(queue_behavior, std::make_shared<fifo_queue>(*std::move(made)));
}

} // namespace troupe
