#include "troupe/actors/queue.hpp"

#include "troupe/actors/deadlines.hpp"
#include "troupe/actors/messages.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/state/queue.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace troupe {
namespace {

struct asker {
  uint32_t wait = 0;
  const node* origin = nullptr;
  caf::actor region;
  std::optional<deadlines::key> due;
};

struct queue_actor_state {
  explicit queue_actor_state() {}
  static inline const char* name = "troupe.queue";
  std::unique_ptr<fifo_queue> queue;
  std::unordered_map<uint64_t, asker> waiting; // by request
  uint64_t next_request = 1;
  deadlines due; // of waits
};

using queue_self = caf::stateful_actor<queue_actor_state>*;

void forget(queue_self self, std::unordered_map<uint64_t, asker>::iterator which) {
  if (which->second.due)
    self->state.due.remove(*which->second.due);
  self->state.waiting.erase(which);
}

void answer(queue_self self, const fifo_queue::completions& done) {
  auto& waiting = self->state.waiting;
  for (const auto& one : done)
    if (auto it = waiting.find(one.who.request); it != waiting.end()) {
      auto& to = it->second;
      auto outcome = one.outcome;
      // Errors name the node that asked; the queue names itself.
      self->send(to.region,
                 wait_answer{to.wait, within(*to.origin, std::move(outcome)), one.tensors});
      forget(self, it);
    }
}

void give_up(queue_self self, troupe::queue_request who, int64_t after_ms) {
  fifo_queue::completions done;
  auto& queue = *self->state.queue;
  queue.cancel(who,
               failure(error_kind::deadline_exceeded, "queue '", queue.name(), "': waited for ",
                       after_ms, " ms"),
               done);
  answer(self, done);
}

void serve(queue_self self, queue_wait& what) {
  auto& state = self->state;
  const auto& op = what.origin->op().name;
  const auto& attrs = what.origin->attrs();
  troupe::queue_request who{what.step, state.next_request++};
  auto region = what.region;
  auto reply_now = [&](status outcome, std::vector<tensor> values) {
    self->send(region, wait_answer{what.wait, std::move(outcome), std::move(values)});
  };
  fifo_queue::completions done;
  state.waiting.emplace(who.request, asker{what.wait, what.origin, region, {}});
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
  answer(self, done);
  auto limit = attrs.find("timeout_ms");
  if (limit == attrs.end())
    return;
  auto patience = *limit->second.get_if<int64_t>();
  if (auto it = state.waiting.find(who.request); it != state.waiting.end() && patience > 0)
    it->second.due = state.due.add(self, self->clock().now() + std::chrono::milliseconds{patience},
                                   [=] { give_up(self, who, patience); });
}

caf::behavior queue_behavior(queue_self self, const std::shared_ptr<fifo_queue>& queue) {
  self->state.queue = std::make_unique<fifo_queue>(std::move(*queue));
  self->set_default_handler(caf::drop);
  return {
      [=](queue_wait& what) { serve(self, what); },
      [=](const queue_cancel& what) {
        fifo_queue::completions done;
        self->state.queue->cancel(what.step, failure(error_kind::cancelled, "the step has failed"),
                                  done);
        // Nobody listens to a failed step's waits any more, but its leaving may serve others.
        std::erase_if(done, [&](const auto& one) {
          auto it = self->state.waiting.find(one.who.request);
          if (one.who.step == what.step && it != self->state.waiting.end())
            forget(self, it);
          return one.who.step == what.step;
        });
        answer(self, done);
      },
      [=](queue_return& what) {
        fifo_queue::completions done;
        self->state.queue->put_back(std::move(what.values), what.many, done);
        answer(self, done);
      },
      [=](const queue_reset&) {
        fifo_queue::completions done;
        auto& held = *self->state.queue;
        held.reset(failure(error_kind::cancelled, "queue '", held.name(), "' was reset"), done);
        answer(self, done);
      },
      [=](wake_atom) { self->state.due.wake(self); },
  };
}

} // namespace

taking elements_taken(const node& origin) {
  const auto& op = origin.op().name;
  return op == "QueueDequeue"       ? taking::element
         : op == "QueueDequeueMany" ? taking::batch
                                    : taking::none;
}

queue_state::queue_state(std::string name, queue_options options)
    : named_state(std::move(name)), options_(std::move(options)) {}

queue_state::~queue_state() {
  if (actor_)
    caf::anon_send_exit(actor_, caf::exit_reason::user_shutdown);
}

result<std::shared_ptr<queue_state>> queue_state::declare(const node& maker, std::string name) {
  queue_options options{.name = name,
                        .capacity = maker.attr<int64_t>("capacity"),
                        .types = maker.attr<std::vector<dtype>>("component_types"),
                        .shapes = maker.attr<std::vector<partial_shape>>("shapes")};
  if (auto valid = fifo_queue::make(options); !valid)
    return within(maker, valid.status());
  return std::shared_ptr<queue_state>{new queue_state{std::move(name), std::move(options)}};
}

status queue_state::declare_again(const named_state& other) {
  auto described = [](const queue_options& of) {
    std::string text;
    for (size_t i = 0; i < of.types.size(); ++i)
      text += concat(i ? ", " : "", of.types[i], of.shapes.empty() ? "" : concat(of.shapes[i]));
    return concat("(", text, ") of capacity ", of.capacity);
  };
  // Shapes may say more or less: whoever takes an element looks at what it gets.
  auto fit = [](const std::vector<partial_shape>& a, const std::vector<partial_shape>& b) {
    return a.empty() || b.empty() ||
           std::ranges::equal(a, b, [](auto& x, auto& y) { return x.compatible(y); });
  };
  const auto& again = static_cast<const queue_state&>(other).options_;
  if (again.capacity != options_.capacity || again.types != options_.types ||
      !fit(again.shapes, options_.shapes))
    return invalid("queue '", name(), "' exists as ", described(options_),
                   ", and is declared again as ", described(again));
  return {};
}

result<tensor> queue_state::read() const {
  return invalid("queue '", name(), "' is no tensor: dequeue its elements");
}

void queue_state::clear() {
  std::lock_guard guard{mutex_};
  if (actor_)
    caf::anon_send(actor_, queue_reset{});
}

caf::actor queue_state::actor(caf::actor_system& system) {
  std::lock_guard guard{mutex_};
  if (!actor_)
    actor_ =
        system.spawn(queue_behavior, std::make_shared<fifo_queue>(*fifo_queue::make(options_)));
  return actor_;
}

} // namespace troupe
