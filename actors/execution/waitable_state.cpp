#include "troupe/actors/execution/waitable_state.hpp"

#include "troupe/actors/base/deadlines.hpp"
#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/file_threads.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <boost/container/small_vector.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/system_messages.hpp>

#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>

namespace troupe {
namespace {

void fill_in(state_info& info, const waitable_resource& source) {
  info.holds = source.element_type_text();
  info.content = source.describe();
  info.bytes = source.bytes();
}

// Clears a pointer to a list on the stack at the end of its function, also after an exception.
template <class List>
struct clear_at_exit {
  List** pointer;
  ~clear_at_exit() {
    if (pointer)
      *pointer = nullptr;
  }
};
template <class List>
clear_at_exit(List**) -> clear_at_exit<List>;

// The sender of a request, to which the answer goes.
struct requester {
  uint32_t wait = 0; // or the number of a deferred operation
  const troupe::node* origin = nullptr;
  caf::actor region; // or a waitable resource, for a deferred operation
  caf::actor source; // the waitable resource that this one may ask
  caf::actor keep;   // owns the region of `origin`, for a deferred operation
  usage_meter::side side = usage_meter::neither;
};
// A request that is not answered yet.
struct waiter {
  requester from;
  std::optional<deadlines::key> due; // its timeout, if it has one
};
struct delivery {
  caf::actor region;
  wait_answer answer;
};
// A deferred operation: a request to another waitable resource, or an access to files.
struct pending_operation {
  deferred_operation operation;
  requester from;
};
// The messages of one call, which are sent after the lock is released. Most requests have one
// answer.
struct deliveries {
  boost::container::small_vector<delivery, 2> answers;
  std::vector<pending_operation> operations;
};

usage_meter::side side_of(const wait_request& request) {
  if (request.origin->op().returns_answer_on_failure)
    return usage_meter::takes;
  return request.inputs.empty() ? usage_meter::neither : usage_meter::puts;
}

requester requester_of(wait_request& request) {
  auto side = side_of(request);
  return {request.wait, request.origin, std::move(request.region), std::move(request.source), {},
          side};
}

requester requester_of(source_request& request) {
  return {request.operation_number,  request.origin,    std::move(request.asker), {},
          std::move(request.region), usage_meter::takes};
}

// Errors name the requesting node when they reach it. The waitable resource adds its own name.
delivery delivery_to(requester& receiver, answer& result) {
  auto outcome = receiver.keep ? std::move(result.outcome)
                               : with_node_context(*receiver.origin, std::move(result.outcome));
  return {std::move(receiver.region),
          {receiver.wait, std::move(outcome), std::move(result.tensors), result.id.step}};
}

status end_error(const waitable_resource& ending, const caf::error& reason) {
  auto why = reason == caf::exit_reason::user_shutdown ? "its task shuts down"
             : reason.category() == caf::atom("exit")
                 ? "it got the exit message " + to_string(caf::exit_reason{reason.code()})
                 : from_caf(reason).message();
  return failure(error_kind::cancelled, ending.kind(), " '", ending.name(), "' ends: ", why);
}

// Handles a message on its sender's thread, as regions do: a thread that enqueues an element
// delivers it to the region that waits for it. The lock is held only while the rules of the
// waitable resource run. Answers are sent after it is released.
class waitable_actor final : public inline_actor {
public:
  waitable_actor(caf::actor_config& config, std::shared_ptr<waitable_resource> machine,
                 std::shared_ptr<file_threads> files)
      : inline_actor(config), machine_(std::move(machine)), files_(std::move(files)) {}

  const char* name() const override { return "troupe.waitable_resource"; }

  // The interface that class deadlines needs:
  caf::actor_clock& clock() { return home_system().clock(); }
  // The clock's thread must not run this actor, because it would wait for itself. So a timer actor
  // forwards the message.
  void delayed_send(waitable_actor* self, caf::timespan left, wake_atom wake) {
    if (!timer_)
      timer_ = home_system().spawn(
          [receiver = self->address()](caf::event_based_actor*) -> caf::behavior {
            return {[receiver](wake_atom woken) {
              if (auto waitable_resource = caf::actor_cast<caf::actor>(receiver))
                caf::anon_send(waitable_resource, woken);
            }};
          });
    clock().schedule_message(clock().now() + left, caf::actor_cast<caf::strong_actor_ptr>(timer_),
                             caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, wake));
  }

private:
  bool receive(caf::mailbox_element& message, caf::execution_unit* unit) override {
    deliveries out;
    step_id current_step;
    if (auto* request = content_if<wait_request>(message)) {
      current_step = request->step;
      auto from = requester_of(*request);
      put(std::move(from), current_step, request->origin->op().start_operation,
          std::move(request->inputs), out);
    } else if (auto* source_request = content_if<troupe::source_request>(message)) {
      current_step = source_request->step;
      put(requester_of(*source_request), current_step, source_request->operation, {}, out);
    } else if (auto* withdrawal = content_if<withdraw_question>(message)) {
      current_step = withdrawal->step;
      under_lock(out, [&](answers& done) { withdraw(*withdrawal, done); });
    } else if (auto* answer = content_if<wait_answer>(message)) {
      current_step = answer->step;
      under_lock(out, [&](answers& done) {
        machine_->operation_ended(answer->wait, std::move(answer->outcome),
                                  std::move(answer->values), done);
      });
    } else if (auto* ended = content_if<troupe::operation_ended>(message)) {
      under_lock(out, [&](answers& done) {
        machine_->operation_ended(ended->number, std::move(ended->outcome), {}, done);
      });
    } else if (auto* step_end = content_if<step_ended>(message)) {
      under_lock(out, [&](answers& done) { end_step(*step_end, done); });
    } else if (content_if<waitable_reset>(message)) {
      under_lock(out, [&](answers& done) {
        machine_->reset(
            failure(error_kind::cancelled, machine_->kind(), " '", machine_->name(), "' was reset"),
            done);
      });
    } else if (auto* query = content_if<waitable_stats_query>(message)) {
      std::lock_guard guard{mutex_};
      if (query->info)
        fill_in(*query->info, *machine_);
      if (query->numbers)
        *query->numbers = count();
    } else if (content_if<wake_atom>(message)) {
      under_lock(out, [&](answers& done) {
        overdue_ = &done;
        due_.wake(this);
        overdue_ = nullptr;
      });
    } else if (auto* exit = content_if<caf::exit_msg>(message); exit && exit->reason) {
      end(exit->reason, unit);
    } else {
      return false;
    }
    send_all(out, current_step, unit);
    return true;
  }

  // Answers all requests, those to come, too. Monitors get the reason after the answers are sent,
  // because they run on this thread.
  void end(const caf::error& reason, caf::execution_unit* unit) {
    deliveries out;
    under_lock(out, [&](answers& done) {
      if (ended_)
        ended_ = end_error(*machine_, reason);
      machine_->reset(ended_, done);
    });
    send_all(out, {}, unit);
    cleanup(caf::error{reason}, unit);
  }

  void end_step(const step_ended& ended, answers& done) {
    using outcome_kind = step_ended::outcome_kind;
    if (ended.outcome == outcome_kind::failing || ended.outcome == outcome_kind::failed)
      machine_->cancel(ended.step, failure(error_kind::cancelled, "the step has failed"), done);
    if (ended.outcome == outcome_kind::succeeded_locally && machine_->holds_for(ended.step))
      *ended.keeps_inputs = true;
    else if (ended.outcome != outcome_kind::failing)
      machine_->end_step(ended.step, ended.outcome == outcome_kind::failed, done);
  }

  waitable_stats count() {
    waitable_stats numbers{.size = machine_->size()};
    meter_.advance(numbers.size);
    numbers.usage = meter_.usage();
    for (const auto& [number, waiting] : waiting_) {
      numbers.puts_waiting += waiting.from.side == usage_meter::puts;
      numbers.takes_waiting += waiting.from.side == usage_meter::takes;
    }
    return numbers;
  }

  void withdraw(const withdraw_question& request, answers& done) {
    for (const auto& [number, waiting] : waiting_)
      if (waiting.from.keep && waiting.from.wait == request.operation_number &&
          waiting.from.region == request.asker)
        return machine_->cancel(request_id{request.step, number},
                                failure(error_kind::cancelled, "the step has failed"), done);
  }

  // Returns this thread's list for answers, emptied: its memory is reused.
  static answers& empty_answers() {
    static thread_local answers kept;
    kept.clear();
    return kept;
  }

  // Calls `act` with the lock held. If memory runs out, the answers until then are sent, and the
  // process goes on.
  template <class Act>
  void under_lock(deliveries& out, Act act) {
    std::lock_guard guard{mutex_};
    meter_.advance(machine_->size());
    auto& done = empty_answers();
    (void)guarded("answering", [&]() -> status {
      act(done);
      return {};
    });
    collect(done, out);
    collect_operations(out);
  }

  // Deferred operations are started after the lock is released, like answers.
  void collect_operations(deliveries& out) {
    operations_.clear();
    machine_->take_operations(operations_);
    for (auto& operation : operations_) {
      requester sender;
      if (operation.requester)
        if (auto position = waiting_.find(operation.requester->number); position != waiting_.end())
          sender = position->second.from;
      out.operations.push_back({std::move(operation), std::move(sender)});
    }
  }

  // A deferred operation has the step of its request, so the end of the step ends it, too.
  void run_operation(pending_operation& pending, caf::execution_unit* unit) {
    auto self = caf::actor_cast<caf::actor>(this);
    if (pending.operation.work) {
      auto is_queued = files_->run([self = std::move(self),
                                    work = std::move(pending.operation.work),
                                    number = pending.operation.number](file_access& files) {
        auto outcome = guarded("reading a file", [&] { return work(files); });
        deliver(actor_behind(self), troupe::operation_ended{number, std::move(outcome)}, nullptr);
      });
      if (!is_queued)
        deliver(*this,
                troupe::operation_ended{pending.operation.number,
                                        failure(error_kind::resource_exhausted,
                                                "the system cannot create a thread to read files")},
                unit);
      return;
    }
    auto step = pending.operation.requester->step;
    if (!pending.from.source) {
      deliver(*this,
              wait_answer{pending.operation.number,
                          failure(error_kind::internal, machine_->kind(), " '", machine_->name(),
                                  "' has no waitable resource to ask"),
                          {},
                          step},
              unit);
      return;
    }
    deliver(actor_behind(pending.from.source),
            troupe::source_request{step, pending.from.origin, pending.operation.ask,
                                   pending.operation.number, pending.from.region, self},
            unit);
    // The step may have failed before the source got the request: its end was not reported there.
    std::unique_lock lock{mutex_};
    auto is_waiting = waiting_.contains(pending.operation.requester->number);
    lock.unlock();
    if (!is_waiting)
      deliver(actor_behind(pending.from.source),
              withdraw_question{step, pending.operation.number, std::move(self)}, unit);
  }

  // Sends answers, then starts deferred operations. The calling thread goes on with its own step;
  // for other steps, other threads are woken. Answers and deferred operations can cause further
  // ones in this function: these are queued and run one after another, not nested.
  void send_all(deliveries& out, step_id current_step, caf::execution_unit* unit) {
    deliver_answers({out.answers.data(), out.answers.size()}, current_step, unit);
    if (out.operations.empty())
      return;
    using queued_operation = std::pair<caf::actor, pending_operation>;
    static thread_local std::deque<queued_operation>* running = nullptr;
    std::deque<queued_operation> queue;
    auto outermost = !running;
    if (outermost)
      running = &queue;
    const clear_at_exit clear_queue{outermost ? &running : nullptr};
    for (auto& operation : out.operations)
      running->emplace_back(caf::actor_cast<caf::actor>(this), std::move(operation));
    if (!outermost)
      return;
    for (; !queue.empty(); queue.pop_front()) {
      auto next = std::move(queue.front());
      actor_behind(next.first).run_operation(next.second, unit);
    }
  }

  static waitable_actor& actor_behind(const caf::actor& handle) {
    return static_cast<waitable_actor&>(*caf::actor_cast<caf::abstract_actor*>(handle));
  }

  // The answers for other steps than the current one, which a thread sends last. The list is not on
  // the stack: GCC 13 warns of a thread_local pointer to a local variable.
  struct waiting_deliveries {
    std::vector<delivery> list;
    bool is_sending = false; // an outer call sends them

    struct end {
      waiting_deliveries* deliveries_of_thread;
      ~end() {
        if (!deliveries_of_thread)
          return;
        deliveries_of_thread->is_sending = false;
        if (!deliveries_of_thread->list.empty()) { // after an exception
          auto unsent = std::exchange(deliveries_of_thread->list, {});
        }
      }
    };
  };

  static void deliver_answers(std::span<delivery> deliveries, step_id current_step,
                              caf::execution_unit* unit) {
    static thread_local waiting_deliveries thread_deliveries;
    auto outermost = !std::exchange(thread_deliveries.is_sending, true);
    const waiting_deliveries::end at_exit{outermost ? &thread_deliveries : nullptr};
    auto& queue = thread_deliveries.list;
    for (auto& next_delivery : deliveries)
      if (next_delivery.answer.step == current_step)
        deliver_answer(next_delivery, unit);
      else
        queue.push_back(std::move(next_delivery));
    if (!outermost)
      return;
    for (size_t i = 0; i < queue.size();) { // the queue may grow meanwhile
      auto next = std::move(queue[i++]);
      if (i == queue.size()) {
        queue.clear();
        i = 0;
      }
      deliver_answer(next, nullptr);
    }
  }

  static void deliver_answer(delivery& next, caf::execution_unit* unit) {
    deliver(static_cast<inline_actor&>(*caf::actor_cast<caf::abstract_actor*>(next.region)),
            std::move(next.answer), unit);
  }

  void put(requester sender, step_id step, decltype(deferred_operation::ask) operation,
           std::vector<tensor> inputs, deliveries& out) {
    std::lock_guard guard{mutex_};
    meter_.advance(machine_->size());
    meter_.count_arrival(sender.side);
    auto& done = empty_answers();
    request_id id{step, next_request_++};
    auto is_this_request = [&](const auto& candidate) { return candidate.id == id; };
    if (!ended_) {
      done.push_back({id, ended_});
    } else {
      auto outcome = guarded("asking", [&]() -> status {
        operation(*machine_, {id, sender.origin, std::move(inputs), &meter_}, done);
        return {};
      });
      if (!outcome)
        machine_->cancel(id, outcome, done);
      if (!outcome && std::ranges::none_of(done, is_this_request))
        done.push_back({id, std::move(outcome)});
    }
    // A request that is answered at once is not added to waiting_.
    if (auto answer = std::ranges::find_if(done, is_this_request); answer != done.end())
      out.answers.push_back(delivery_to(sender, *answer));
    else
      wait(id, std::move(sender));
    collect(done, out);
    collect_operations(out);
  }

  void wait(request_id id, requester sender) {
    auto limit = sender.origin->attrs().find("timeout_ms");
    auto timeout_ms = limit == sender.origin->attrs().end() ? 0 : *limit->second.get_if<int64_t>();
    timeout_ms = std::min<int64_t>(timeout_ms, max_timeout_ms);
    meter_.begin_wait(sender.side);
    auto& waits = waiting_[id.number];
    waits.from = std::move(sender);
    if (timeout_ms > 0)
      waits.due = due_.add(this, clock().now() + std::chrono::milliseconds{timeout_ms},
                           [=, this] { fail_overdue(id, timeout_ms); });
  }

  void fail_overdue(request_id id, int64_t timeout_ms) {
    machine_->cancel(id,
                     failure(error_kind::deadline_exceeded, machine_->kind(), " '",
                             machine_->name(), "' gave no answer within ", timeout_ms,
                             " ms: it has ", machine_->describe()),
                     *overdue_);
  }

  // Moves the answers of waiting requests to `out`.
  void collect(answers& done, deliveries& out) {
    for (auto& result : done) {
      auto position = waiting_.find(result.id.number);
      if (position == waiting_.end())
        continue;
      meter_.end_wait(position->second.from.side);
      if (position->second.due)
        due_.remove(*position->second.due);
      out.answers.push_back(delivery_to(position->second.from, result));
      waiting_.erase(position);
    }
  }

  std::mutex mutex_;
  const std::shared_ptr<waitable_resource> machine_;
  const std::shared_ptr<file_threads> files_;
  usage_meter meter_;
  std::vector<deferred_operation> operations_;   // those that are being started
  std::unordered_map<uint64_t, waiter> waiting_; // by request
  uint64_t next_request_ = 1;
  deadlines due_;
  answers* overdue_ = nullptr; // the answers of the wake_atom that is being handled
  caf::actor timer_;
  static constexpr int64_t max_timeout_ms = int64_t{1000} * 3600 * 24 * 365; // a year
  status ended_; // the answer to all requests after an exit message
};

} // namespace

waitable_state::waitable_state(std::unique_ptr<waitable_resource> machine)
    : named_state(machine->name()), machine_(std::move(machine)) {}

waitable_state::~waitable_state() {
  if (actor_)
    caf::anon_send_exit(actor_, caf::exit_reason::user_shutdown);
}

result<std::shared_ptr<waitable_state>> waitable_state::declare(const node& maker,
                                                                std::string name) {
  auto machine = maker.op().make_waitable_resource(maker, std::move(name));
  if (!machine)
    return with_node_context(maker, machine.status());
  return std::shared_ptr<waitable_state>{new waitable_state{*std::move(machine)}};
}

status waitable_state::declare_again(const named_state& other) {
  return machine_->declare_again(*static_cast<const waitable_state&>(other).machine_);
}

result<tensor> waitable_state::read() const {
  return invalid(kind(), " '", name(), "' is not a tensor: use its ops");
}

void waitable_state::clear() {
  caf::actor receiver;
  {
    std::lock_guard guard{mutex_};
    receiver = actor_;
  }
  if (receiver)
    caf::anon_send(receiver, waitable_reset{});
}

state_info waitable_state::describe() const {
  auto info = named_state::describe();
  std::lock_guard guard{mutex_};
  if (actor_)
    deliver(static_cast<inline_actor&>(*caf::actor_cast<caf::abstract_actor*>(actor_)),
            waitable_stats_query{&info, nullptr}, nullptr);
  else
    fill_in(info, *machine_);
  return info;
}

waitable_stats waitable_state::numbers() const {
  waitable_stats numbers;
  std::lock_guard guard{mutex_};
  if (actor_)
    deliver(static_cast<inline_actor&>(*caf::actor_cast<caf::abstract_actor*>(actor_)),
            waitable_stats_query{nullptr, &numbers}, nullptr);
  else
    numbers.size = machine_->size();
  return numbers;
}

caf::actor waitable_state::actor(caf::actor_system& system,
                                 const std::shared_ptr<file_threads>& files) {
  std::lock_guard guard{mutex_};
  if (!actor_)
    actor_ = spawn_inline<waitable_actor>(system, machine_, files).first;
  return actor_;
}

} // namespace troupe
