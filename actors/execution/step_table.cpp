#include "troupe/actors/execution/step_table.hpp"

#include "troupe/actors/execution/region.hpp"
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
  watchers told;
  auto may = [&] {
    std::lock_guard guard{mutex_};
    auto outcome = steps_.announce(step, now_());
    told = watchers_of(step);
    return outcome;
  }();
  if (!may)
    TROUPE_REACHED("a step must not begin");
  tell(told, step, false);
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
  watchers told;
  {
    std::lock_guard guard{mutex_};
    last = steps_.end(step, now_());
    told = watchers_of(step);
  }
  tell(told, step, failed);
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

// Those to be told of a change. They are forgotten with it where nothing more comes of the step: in
// the same breath, because nobody else may tell them of a step's end that is not yet told.
step_table::watchers step_table::watchers_of(step_id step) {
  auto it = watchers_.find(step);
  if (it == watchers_.end())
    return {};
  if (steps_.awaits(step))
    return it->second;
  auto last = std::move(it->second);
  watchers_.erase(it);
  return last;
}

// On this thread: exchanges have no mailbox.
void step_table::tell(const watchers& those, step_id step, bool failed) {
  for (const auto& one : those)
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

bool step_table::abort_if_come(step_id step, status why, caf::execution_unit* unit) {
  {
    std::lock_guard guard{mutex_};
    if (!steps_.has_come(step))
      return false;
  }
  abort(step, std::move(why), unit); // which does nothing where it has ended meanwhile
  return true;
}

void step_table::abort(step_id step, status why, caf::execution_unit* unit) {
  watchers told;
  auto in = [&] {
    std::lock_guard guard{mutex_};
    auto found = steps_.cancel(step, why, now_());
    told = watchers_of(step);
    return found;
  }();
  // One that has ended meanwhile, maybe well, tells of that itself: what it sent is to be had.
  if (!in || (*in)->conductor().abort(step.sequence, std::move(why), unit))
    tell(told, step, true);
}

template <class Predicate>
void step_table::abort_if(Predicate hit, const status& why, caf::execution_unit* unit) {
  struct one {
    step_id step;
    std::shared_ptr<task_instance> in;
    watchers told;
  };
  std::vector<one> found;
  {
    std::lock_guard guard{mutex_};
    steps_.for_each([&](step_id step, const auto& in, step_clock::time_point deadline) {
      if (hit(*in, deadline))
        found.push_back({step, in, {}});
    });
    for (auto& each : found) {
      steps_.cancel(each.step, why, now_());
      each.told = watchers_of(each.step);
    }
  }
  for (const auto& each : found)
    if (each.in->conductor().abort(each.step.sequence, why, unit)) // else as in abort()
      tell(each.told, each.step, true);
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
  // None has failed here: what a step announced that ran here and has ended is still to be had.
  std::vector<std::pair<step_id, watchers>> forgotten;
  {
    std::lock_guard guard{mutex_};
    steps_.age(now_());
    for (const auto& one : watchers_)
      if (!steps_.awaits(one.first))
        forgotten.emplace_back(one.first, one.second);
    for (const auto& one : forgotten)
      watchers_.erase(one.first);
  }
  for (const auto& [step, told] : forgotten)
    tell(told, step, false);
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
