#include "troupe/actors/step_table.hpp"

#include "troupe/actors/region.hpp"
#include "troupe/runtime/simulation.hpp"

#include <caf/send.hpp>

#include <algorithm>

namespace troupe {
namespace {

// Not after the end: a step that has ended may have let its program go, or its regions, and its
// instance may serve another.
void bring_to_region(task_instance& in, arrival&& what, caf::execution_unit* unit) {
  in.conductor().act_for(what.step.sequence, [&] { return in.receive(std::move(what), unit); });
}

} // namespace

status step_table::announce(step_id step) {
  auto may = [&] {
    std::lock_guard guard{mutex_};
    return steps_.announce(step, now_());
  }();
  if (!may)
    TROUPE_REACHED("a step must not begin");
  tell(step, false);
  return may;
}

status step_table::attach(step_id step, const std::shared_ptr<task_instance>& in,
                          caf::execution_unit* unit, step_clock::time_point deadline) {
  auto came = [&] {
    std::lock_guard guard{mutex_};
    return steps_.attach(step, in, deadline);
  }();
  if (!came)
    return came.status();
  for (auto& one : *came)
    bring_to_region(*in, std::move(one), unit);
  return {};
}

void step_table::end(step_id step, bool failed) {
  std::shared_ptr<task_instance> last; // goes when the lock is free
  {
    std::lock_guard guard{mutex_};
    last = steps_.end(step, now_());
  }
  tell(step, failed);
}

demand step_table::expect(step_id step, const caf::actor_addr& exchange) {
  std::lock_guard guard{mutex_};
  auto known = steps_.expect(step, now_());
  if (known != demand::never)
    note_watcher(step, exchange);
  return known;
}

void step_table::watch(step_id step, const caf::actor_addr& exchange) {
  std::lock_guard guard{mutex_};
  if (steps_.runs(step))
    note_watcher(step, exchange);
}

void step_table::note_watcher(step_id step, const caf::actor_addr& exchange) {
  auto& those = watchers_[step];
  if (std::ranges::find(those, exchange) == those.end())
    those.push_back(exchange);
}

// On this thread: exchanges have no mailbox.
void step_table::tell(step_id step, bool failed) {
  std::vector<caf::actor_addr> told;
  {
    std::lock_guard guard{mutex_};
    auto it = watchers_.find(step);
    if (it == watchers_.end())
      return;
    if (steps_.awaits(step)) { // there is more to come
      told = it->second;
    } else {
      told = std::move(it->second);
      watchers_.erase(it);
    }
  }
  for (const auto& one : told)
    if (auto exchange = caf::actor_cast<caf::actor>(one))
      caf::anon_send(exchange, step_news{step, failed});
}

void step_table::push(tensor_push&& what, caf::execution_unit* unit) {
  arrival came{what.step, what.key, what.dead, std::move(what.value), what.frame, what.iteration};
  auto found = [&] {
    std::lock_guard guard{mutex_};
    return steps_.arrive(came, now_());
  }();
  if (found.fate == arrival_fate::keep)
    TROUPE_REACHED("a tensor comes before its step");
  if (found.fate == arrival_fate::keep && TROUPE_BUGGIFY("an early tensor finds no room"))
    abort(what.step, failure(error_kind::resource_exhausted, "simulated: no room"), unit);
  if (found.fate == arrival_fate::deliver)
    bring_to_region(*found.step, std::move(came), unit);
  else if (found.fate == arrival_fate::twice)
    found.step->conductor().abort(what.step.sequence,
                                  invalid("a tensor came twice for the key ", what.key), unit);
}

void step_table::abort(step_id step, status why, caf::execution_unit* unit) {
  auto in = [&] {
    std::lock_guard guard{mutex_};
    return steps_.cancel(step, why, now_());
  }();
  if (in)
    (*in)->conductor().abort(step.sequence, std::move(why), unit);
  tell(step, true);
}

template <class Predicate>
void step_table::abort_if(Predicate hit, const status& why, caf::execution_unit* unit) {
  std::vector<std::pair<step_id, std::shared_ptr<task_instance>>> found;
  {
    std::lock_guard guard{mutex_};
    steps_.for_each([&](step_id step, const auto& in, step_clock::time_point deadline) {
      if (hit(*in, deadline))
        found.emplace_back(step, in);
    });
    for (const auto& one : found)
      steps_.cancel(one.first, why, now_());
  }
  for (const auto& [step, in] : found) {
    in->conductor().abort(step.sequence, why, unit);
    tell(step, true);
  }
}

void step_table::abort_all(const std::string& partner, uint64_t incarnation, const status& why,
                           caf::execution_unit* unit) {
  abort_if([&](const task_instance& in,
               auto) { return in.program().exchanges_with(partner, incarnation); },
           why, unit);
}

void step_table::abort_all(const task_program& of, const status& why, caf::execution_unit* unit) {
  abort_if([&](const task_instance& in, auto) { return &in.program() == &of; }, why, unit);
}

void step_table::expire(step_clock::time_point now, const task_name& self,
                        caf::execution_unit* unit) {
  std::vector<step_id> forgotten;
  {
    std::lock_guard guard{mutex_};
    steps_.age(now_());
    for (const auto& one : watchers_)
      if (!steps_.awaits(one.first))
        forgotten.push_back(one.first);
  }
  for (auto step : forgotten)
    tell(step, true);
  abort_if([&](const task_instance&, step_clock::time_point deadline) { return deadline <= now; },
           failure(error_kind::deadline_exceeded, self, ": time is over"), unit);
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
  std::vector<running_step> all;
  {
    std::lock_guard guard{mutex_};
    steps_.for_each([&](step_id id, const auto& in, step_clock::time_point deadline) {
      all.push_back({id, in, deadline});
    });
  }
  std::ranges::sort(all, {}, &running_step::id);
  return all;
}

bool step_table::idle() const {
  std::lock_guard guard{mutex_};
  return steps_.idle();
}

} // namespace troupe
