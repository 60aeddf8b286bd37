#include "troupe/actors/execution/step_table.hpp"

#include "troupe/actors/execution/region.hpp"
#include "troupe/runtime/simulation.hpp"

#include <caf/send.hpp>

#include <algorithm>

namespace troupe {
namespace {

// Does nothing after the end of the step: the step may have released its program or its regions,
// and the instance may serve another.
void deliver_to_region(task_instance& instance, arrival&& message, caf::execution_unit* unit) {
  instance.conductor().act_for(message.step.sequence,
                               [&] { return instance.receive(std::move(message), unit); });
}

} // namespace

status step_table::admit(step_id step) {
  watchers exchanges;
  auto permission = [&] {
    std::lock_guard guard{mutex_};
    auto outcome = steps_.announce(step, now_());
    exchanges = watchers_of(step);
    return outcome;
  }();
  if (!permission)
    TROUPE_REACHED("a step must not begin");
  notify(exchanges, step, false);
  return permission;
}

status step_table::deliver_early_tensors(step_id step,
                                         const std::shared_ptr<task_instance>& instance,
                                         caf::execution_unit* unit,
                                         step_clock::time_point deadline) {
  auto early = [&] {
    std::lock_guard guard{mutex_};
    return steps_.attach(step, instance, deadline);
  }();
  if (!early)
    return early.status();
  for (auto& message : *early)
    deliver_to_region(*instance, std::move(message), unit);
  return {};
}

void step_table::end(step_id step, bool failed) {
  std::shared_ptr<task_instance> instance; // released after the lock
  watchers exchanges;
  {
    std::lock_guard guard{mutex_};
    instance = steps_.end(step, now_());
    exchanges = watchers_of(step);
  }
  notify(exchanges, step, failed);
}

fetch_decision step_table::expect(step_id step, const caf::actor_addr& exchange) {
  std::lock_guard guard{mutex_};
  auto decision = steps_.expect(step, now_());
  if (decision != fetch_decision::never)
    note_watcher(step, exchange);
  return decision;
}

void step_table::watch(step_id step, const caf::actor_addr& exchange) {
  std::lock_guard guard{mutex_};
  if (steps_.is_running(step))
    note_watcher(step, exchange);
}

void step_table::note_watcher(step_id step, const caf::actor_addr& exchange) {
  auto& exchanges = watchers_[step];
  if (std::ranges::find(exchanges, exchange) == exchanges.end())
    exchanges.push_back(exchange);
}

// Returns the exchanges to notify of a change, and removes them if no message of the step is
// expected any more. Both happen under one lock, so that no other thread notifies them of an end
// before the change.
step_table::watchers step_table::watchers_of(step_id step) {
  auto position = watchers_.find(step);
  if (position == watchers_.end())
    return {};
  if (steps_.expects(step))
    return position->second;
  auto exchanges = std::move(position->second);
  watchers_.erase(position);
  return exchanges;
}

// Runs the handlers on this thread, because exchanges have no mailbox.
void step_table::notify(const watchers& exchanges, step_id step, bool failed) {
  for (const auto& address : exchanges)
    if (auto exchange = caf::actor_cast<caf::actor>(address))
      caf::anon_send(exchange, step_news{step, failed});
}

void step_table::deliver(tensor_push&& message, caf::execution_unit* unit) {
  arrival received{message.step,  message.key,      message.is_dead, std::move(message.value),
                   message.frame, message.iteration};
  auto result = [&] {
    std::lock_guard guard{mutex_};
    return steps_.arrive(received, now_());
  }();
  if (result.fate == arrival_fate::keep)
    TROUPE_REACHED("a tensor comes before its step");
  if (result.fate == arrival_fate::keep && TROUPE_BUGGIFY("an early tensor finds no room"))
    abort(message.step, failure(error_kind::resource_exhausted, "simulated: no room"), unit);
  if (result.fate == arrival_fate::deliver)
    deliver_to_region(*result.step, std::move(received), unit);
  else if (result.fate == arrival_fate::duplicate)
    result.step->conductor().abort(message.step.sequence,
                                   invalid("a tensor came twice for the key ", message.key), unit);
}

bool step_table::abort_if_begun(step_id step, status why, caf::execution_unit* unit) {
  {
    std::lock_guard guard{mutex_};
    if (!steps_.has_begun(step))
      return false;
  }
  abort(step, std::move(why), unit); // does nothing if the step has ended meanwhile
  return true;
}

void step_table::abort(step_id step, status why, caf::execution_unit* unit) {
  watchers exchanges;
  auto instance = [&] {
    std::lock_guard guard{mutex_};
    auto cancelled = steps_.cancel(step, why, now_());
    exchanges = watchers_of(step);
    return cancelled;
  }();
  // If the step has ended meanwhile, end() notifies the exchanges. The step may have succeeded, and
  // then its tensors can still be fetched.
  if (!instance || (*instance)->conductor().abort(step.sequence, std::move(why), unit))
    notify(exchanges, step, true);
}

template <class Predicate>
void step_table::abort_if(Predicate matches, const status& why, caf::execution_unit* unit) {
  struct aborted_step {
    step_id step;
    std::shared_ptr<task_instance> instance;
    watchers exchanges;
  };
  std::vector<aborted_step> aborted;
  {
    std::lock_guard guard{mutex_};
    steps_.for_each([&](step_id step, const auto& instance, step_clock::time_point deadline) {
      if (matches(*instance, deadline))
        aborted.push_back({step, instance, {}});
    });
    for (auto& entry : aborted) {
      steps_.cancel(entry.step, why, now_());
      entry.exchanges = watchers_of(entry.step);
    }
  }
  for (const auto& entry : aborted)
    if (entry.instance->conductor().abort(entry.step.sequence, why, unit)) // else as in abort()
      notify(entry.exchanges, entry.step, true);
}

void step_table::abort_all(const std::string& partner, uint64_t incarnation, const status& why,
                           caf::execution_unit* unit) {
  abort_if([&](const task_instance& instance,
               auto) { return instance.program().exchanges_with(partner, incarnation); },
           why, unit);
}

void step_table::abort_all(const task_program& program, const status& why,
                           caf::execution_unit* unit) {
  abort_if([&](const task_instance& instance, auto) { return &instance.program() == &program; },
           why, unit);
}

void step_table::expire(step_clock::time_point now, const task_name& self,
                        caf::execution_unit* unit) {
  // These steps have not failed here: the announced tensors of a step that ran here and has ended
  // can still be fetched.
  std::vector<std::pair<step_id, watchers>> forgotten;
  {
    std::lock_guard guard{mutex_};
    steps_.age(now_());
    for (const auto& entry : watchers_)
      if (!steps_.expects(entry.first))
        forgotten.emplace_back(entry.first, entry.second);
    for (const auto& entry : forgotten)
      watchers_.erase(entry.first);
  }
  for (const auto& [step, exchanges] : forgotten)
    notify(exchanges, step, false);
  abort_if([&](const task_instance&, step_clock::time_point deadline) { return deadline <= now; },
           failure(error_kind::deadline_exceeded, self, ": the deadline has passed"), unit);
}

void step_table::close(const status& why, caf::execution_unit* unit) {
  {
    std::lock_guard guard{mutex_};
    steps_.close(why);
  }
  abort_if([](const task_instance&, auto) { return true; }, why, unit);
}

size_t step_table::size() const {
  std::lock_guard guard{mutex_};
  return steps_.running();
}

step_table::table_sizes step_table::sizes() const {
  std::lock_guard guard{mutex_};
  return {steps_.running(), steps_.early_steps(), steps_.early_bytes()};
}

std::vector<step_table::running_step> step_table::running() const {
  std::vector<running_step> steps;
  {
    std::lock_guard guard{mutex_};
    steps_.for_each([&](step_id id, const auto& instance, step_clock::time_point deadline) {
      steps.push_back({id, instance, deadline});
    });
  }
  std::ranges::sort(steps, {}, &running_step::id);
  return steps;
}

bool step_table::idle() const {
  std::lock_guard guard{mutex_};
  return steps_.idle();
}

} // namespace troupe
