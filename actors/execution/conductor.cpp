#include "troupe/actors/execution/conductor.hpp"

#include "troupe/actors/execution/flight_report.hpp"
#include "troupe/actors/execution/frames.hpp"
#include "troupe/actors/execution/region.hpp"
#include "troupe/actors/execution/task_program.hpp"

#include <caf/send.hpp>

namespace troupe {

status overdue(uint64_t step) {
  return failure(error_kind::deadline_exceeded, "step ", step, " was not done in time");
}

void conductor_actor::begin(uint64_t step, step_observer& observer, caf::execution_unit* unit,
                            stop_signal::clock::time_point deadline, bool parts_elsewhere) {
  const auto& program = of_.program();
  observer_ = &observer;
  parts_elsewhere_ = parts_elsewhere;
  holds_ = false;
  stop_.arm(deadline);
  error_ = {};
  blamed_.store(false, std::memory_order_relaxed);
  fetches_.clear();
  fetches_.resize(program.fetches());
  step_.store(step, std::memory_order_relaxed);
  auto generation = (state_.load(std::memory_order_relaxed) + one_generation) & generations;
  // Active is whoever starts the step.
  auto missing = program.regions() + program.accelerators().size();
  state_.store(generation + missing * one_missing + one_active, std::memory_order_release);
  of_.begin_step(step);
  for (uint32_t p = 0; p < program.programs().size(); ++p)
    deliver(of_.region(p, 0), token{}, unit);
  leave(false, unit);
}

bool conductor_actor::enter() {
  auto now = state_.load(std::memory_order_acquire);
  do {
    if (now & (ended | failed))
      return false;
  } while (!state_.compare_exchange_weak(now, now + one_active, std::memory_order_acq_rel));
  return true;
}

// Whoever is active may leave; the last one ends the step, unless regions are to come.
void conductor_actor::leave(bool counts, caf::execution_unit* unit) {
  auto now = state_.load(std::memory_order_acquire);
  uint64_t next = 0;
  do {
    next = now - one_active - (counts ? one_missing : 0);
    // Not before everybody has left: whoever comes late would leave the instance's next step
    // instead.
    if ((next & actives) == 0 && ((next & missings) == 0 || next & failed))
      next |= ended;
  } while (!state_.compare_exchange_weak(now, next, std::memory_order_acq_rel));
  if (next & ended)
    end(next & failed, unit);
  // Else the step may be over by now, and this instance anybody's.
}

// Called while active, so that the step cannot end meanwhile.
void conductor_actor::fail(status why) {
  if (blamed_.exchange(true, std::memory_order_acq_rel))
    return;
  auto kind = why.kind();
  auto& root = of_.root();
  if (&root != &of_ && wants_flight_report(why)) // the step says what it waits for, here as well
    root.conductor().abort(step(), of_.in_nest(why), nullptr);
  error_ = stop_.late() ? overdue(step()) : std::move(why);
  if (&root == &of_ && wants_flight_report(error_)) {   // whoever noticed it
    state_.fetch_or(failed, std::memory_order_acq_rel); // no turn begins while others are looked at
    error_ = status{error_.kind(), error_.message() + flight_report(of_, step())};
  }
  stop_.raise();
  state_.fetch_or(failed, std::memory_order_acq_rel);
  of_.program().recorder().note(flight_event::failed, step(), 0, static_cast<uint32_t>(kind));
  tell_responders(step_ended::how::fails);
  if (auto* within = of_.frames())
    within->abort_all(nullptr);
}

void conductor_actor::tell_responders(step_ended::how outcome) {
  if (of_.program().runs_within_steps())
    return; // the step around it does
  const auto& all = of_.program().responders();
  if (!all.empty() && !error_.ok())
    of_.program().recorder().note(flight_event::queues_asked, step());
  for (auto* one : all)
    deliver(*one, step_ended{of_.step(), outcome, &holds_}, nullptr);
}

void conductor_actor::end(bool badly, caf::execution_unit* unit) {
  if (badly) {
    if (error_.kind() == error_kind::resource_exhausted) // now that nothing runs
      error_ = std::move(error_).followed_by(of_.describe_largest_tensors());
    // What it was given goes back now that nothing of it runs.
    tell_responders(step_ended::how::failed);
    // What its kernels have to say is no other step's fault.
    for (auto* one : of_.program().accelerators())
      one->when_done([](const status&) {});
  } else if (of_.program().takes_things()) {
    tell_responders(parts_elsewhere_ ? step_ended::how::well_here : step_ended::how::well);
  }
  std::exchange(observer_, nullptr)->step_ended(unit);
}

// For that step only, and as long as it has not ended.
bool conductor_actor::enter(uint64_t step) {
  auto now = state_.load(std::memory_order_acquire);
  do {
    if (now & ended || step_.load(std::memory_order_relaxed) != step)
      return false;
  } while (!state_.compare_exchange_weak(now, now + one_active, std::memory_order_acq_rel));
  return true;
}

bool conductor_actor::abort(uint64_t step, status why, caf::execution_unit* unit) {
  if (!enter(step))
    return false;
  fail(std::move(why));
  leave(false, unit);
  return true;
}

// Called while active. When all regions have run, all is launched.
void conductor_actor::region_ran() {
  auto before = state_.fetch_sub(one_missing, std::memory_order_acq_rel);
  auto left = ((before & missings) - one_missing) / one_missing;
  if (left == of_.program().accelerators().size() && !(before & failed))
    await_accelerators();
}

// A step that fails meanwhile does not wait for what was launched: memory goes back in the order of
// launches.
void conductor_actor::await_accelerators() {
  for (auto* one : of_.program().accelerators())
    one->when_done([keep = of_.shared_from_this(), id = step()](status outcome) {
      auto& conductor = keep->conductor();
      if (!conductor.enter(id))
        return;
      if (!outcome)
        conductor.fail(std::move(outcome));
      conductor.leave(true, nullptr);
    });
}

bool conductor_actor::receive(caf::mailbox_element& message, caf::execution_unit* unit) {
  if (auto* one = content_if<fetched>(message)) {
    if (!observer_->fetched(one->index, one->value, unit) && one->index < fetches_.size())
      fetches_[one->index] = std::move(one->value); // each index has one sender
    return true;
  }
  if (auto* done = content_if<region_ended>(message)) {
    if (!done->outcome)
      fail(std::move(done->outcome));
    if (of_.program().accelerators().empty()) {
      leave(true, unit);
    } else {
      region_ran();
      leave(false, unit);
    }
    return true;
  }
  return false;
}

} // namespace troupe
