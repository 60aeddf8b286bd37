#include "troupe/actors/execution/conductor.hpp"

#include "troupe/actors/execution/flight_report.hpp"
#include "troupe/actors/execution/frames.hpp"
#include "troupe/actors/execution/region.hpp"
#include "troupe/actors/execution/task_program.hpp"
#include "troupe/runtime/device/launch_owner.hpp"

#include <caf/send.hpp>

namespace troupe {

status deadline_error(uint64_t step) {
  return failure(error_kind::deadline_exceeded, "step ", step, " was not done in time");
}

void conductor_actor::begin(uint64_t step, step_observer& observer, caf::execution_unit* unit,
                            stop_signal::clock::time_point deadline, bool parts_elsewhere) {
  const auto& program = instance_.program();
  current_ = {.observer = &observer,
              .launch_owner = program.accelerators().empty() ? 0 : next_launch_owner(),
              .has_parts_elsewhere = parts_elsewhere};
  stop_.arm(deadline);
  error_ = {};
  has_error_.store(false, std::memory_order_relaxed);
  fetches_.clear();
  fetches_.resize(program.fetches());
  step_.store(step, std::memory_order_relaxed);
  auto generation = (state_.load(std::memory_order_relaxed) + one_generation) & generations;
  // The thread that starts the step is active.
  auto missing = program.regions() + program.accelerators().size();
  state_.store(generation + missing * one_missing + one_active, std::memory_order_release);
  instance_.begin_step(step);
  instance_.messages().count(message_kind::start, program.programs().size());
  for (uint32_t p = 0; p < program.programs().size(); ++p)
    deliver(instance_.region(p, 0), token{}, unit);
  leave(false, unit);
}

bool conductor_actor::enter() {
  auto state = state_.load(std::memory_order_acquire);
  do {
    if (state & (ended | failed))
      return false;
  } while (!state_.compare_exchange_weak(state, state + one_active, std::memory_order_acq_rel));
  return true;
}

// Ends the activity of one party. The last one ends the step, unless regions are still to run.
void conductor_actor::leave(bool region_done, caf::execution_unit* unit) {
  auto state = state_.load(std::memory_order_acquire);
  uint64_t next = 0;
  do {
    next = state - one_active - (region_done ? one_missing : 0);
    // The step ends only when all parties have left: a late one would otherwise leave the
    // instance's next step.
    if ((next & actives) == 0 && ((next & missings) == 0 || next & failed))
      next |= ended;
  } while (!state_.compare_exchange_weak(state, next, std::memory_order_acq_rel));
  if (next & ended)
    end(next & failed, unit);
  // Otherwise the step may have ended by now, and this instance may serve another.
}

// Called while active, so that the step cannot end meanwhile.
void conductor_actor::fail(status why) {
  if (has_error_.exchange(true, std::memory_order_acq_rel))
    return;
  auto kind = why.kind();
  auto& root = instance_.root();
  if (&root != &instance_ && wants_flight_report(why)) // the root step reports the waits
    root.conductor().abort(step(), instance_.within_iterations(why), nullptr);
  error_ = stop_.is_late() ? deadline_error(step()) : std::move(why);
  if (&root == &instance_ && wants_flight_report(error_)) { // on the thread that noticed it
    state_.fetch_or(failed, std::memory_order_acq_rel);     // no iteration begins during the report
    error_ = status{error_.kind(), error_.message() + flight_report(instance_, step())};
  }
  stop_.raise();
  state_.fetch_or(failed, std::memory_order_acq_rel);
  instance_.program().recorder().note(flight_event::failed, step(), 0, static_cast<uint32_t>(kind));
  notify_waitable_resources(step_ended::outcome_kind::failing);
  if (auto* frames = instance_.frames())
    frames->abort_all(nullptr);
}

void conductor_actor::notify_waitable_resources(step_ended::outcome_kind outcome) {
  if (instance_.program().runs_within_steps())
    return; // the conductor of the root step notifies them
  const auto& waitable_resources = instance_.program().waitable_resources();
  if (!waitable_resources.empty() && !error_.ok())
    instance_.program().recorder().note(flight_event::waits_cancelled, step());
  instance_.messages().count(message_kind::step_end, waitable_resources.size());
  for (auto* receiver : waitable_resources)
    deliver(*receiver, step_ended{instance_.step(), outcome, &current_.keeps_inputs}, nullptr);
}

void conductor_actor::end(bool has_failed, caf::execution_unit* unit) {
  if (has_failed) {
    if (error_.kind() == error_kind::resource_exhausted) // here, because nothing runs now
      error_ = std::move(error_).with_suffix(instance_.describe_largest_tensors());
    // The waitable resources take back the elements that the step took, now that nothing of it
    // runs.
    notify_waitable_resources(step_ended::outcome_kind::failed);
    // Drops the errors of its kernels, also those that the devices have yet to report.
    const launching_for scope{current_.launch_owner};
    for (auto* device : instance_.program().accelerators())
      device->notify_when_done([](const status&) {});
  } else if (instance_.program().has_revocable_inputs()) {
    notify_waitable_resources(current_.has_parts_elsewhere
                                  ? step_ended::outcome_kind::succeeded_locally
                                  : step_ended::outcome_kind::succeeded);
  }
  std::exchange(current_.observer, nullptr)->on_step_ended(unit);
}

// Enters that step only, as long as it has not ended.
bool conductor_actor::enter(uint64_t step) {
  auto state = state_.load(std::memory_order_acquire);
  do {
    if (state & ended || step_.load(std::memory_order_relaxed) != step)
      return false;
  } while (!state_.compare_exchange_weak(state, state + one_active, std::memory_order_acq_rel));
  return true;
}

bool conductor_actor::abort(uint64_t step, status why, caf::execution_unit* unit) {
  if (!enter(step))
    return false;
  fail(std::move(why));
  leave(false, unit);
  return true;
}

// Called while active. When all regions have run, all kernels are launched.
void conductor_actor::region_ran() {
  auto before = state_.fetch_sub(one_missing, std::memory_order_acq_rel);
  auto left = ((before & missings) - one_missing) / one_missing;
  if (left == instance_.program().accelerators().size() && !(before & failed))
    await_accelerators();
}

// A step that fails meanwhile does not wait for launched kernels: memory is released in the order
// of launches.
void conductor_actor::await_accelerators() {
  const launching_for scope{current_.launch_owner};
  for (auto* device : instance_.program().accelerators())
    device->notify_when_done([kept = instance_.shared_from_this(), id = step()](status outcome) {
      auto& conductor = kept->conductor();
      if (!conductor.enter(id))
        return;
      if (!outcome)
        conductor.fail(std::move(outcome));
      conductor.leave(true, nullptr);
    });
}

bool conductor_actor::receive(caf::mailbox_element& message, caf::execution_unit* unit) {
  if (auto* result = content_if<fetched>(message)) {
    instance_.messages().count(message_kind::fetch);
    if (!current_.observer->on_fetched(result->index, result->value, unit) &&
        result->index < fetches_.size())
      fetches_[result->index] = std::move(result->value); // each index has one sender
    return true;
  }
  if (auto* done = content_if<region_ended>(message)) {
    instance_.messages().count(message_kind::region_end);
    if (!done->outcome)
      fail(std::move(done->outcome));
    if (instance_.program().accelerators().empty()) {
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
