#include "troupe/actors/conductor.hpp"

#include "troupe/actors/flight_report.hpp"
#include "troupe/actors/region.hpp"
#include "troupe/actors/task_program.hpp"

#include <caf/send.hpp>

namespace troupe {

status overdue(uint64_t step) {
  return failure(error_kind::deadline_exceeded, "step ", step, " was not done in time");
}

void conductor_actor::begin(uint64_t step, step_observer& observer, caf::execution_unit* unit,
                            stop_signal::clock::time_point deadline) {
  const auto& program = of_.program();
  {
    std::lock_guard guard{mutex_};
    step_ = step;
    observer_ = &observer;
    stop_.arm(deadline);
    missing_ = program.regions();
    active_ = 1; // whoever starts the step
    ended_ = false;
    error_ = {};
    fetches_.clear();
    fetches_.resize(program.fetches());
  }
  of_.begin_step(step);
  for (uint32_t p = 0; p < program.programs().size(); ++p)
    deliver(of_.region(p, 0), token{}, unit);
  leave({}, false, unit);
}

bool conductor_actor::enter() {
  std::lock_guard guard{mutex_};
  if (ended_ || !error_.ok())
    return false;
  ++active_;
  return true;
}

void conductor_actor::leave(status outcome, bool counts, caf::execution_unit* unit) {
  step_observer* to_tell = nullptr;
  bool cancels = false;
  auto kind = outcome.kind();
  auto& recorder = of_.program().recorder();
  uint64_t step = 0;
  {
    std::lock_guard guard{mutex_};
    --active_;
    missing_ -= counts ? 1 : 0;
    if (!outcome && error_.ok() && !ended_) {
      error_ = stop_.late() ? overdue(step_) : std::move(outcome);
      stop_.raise();
      cancels = true;
    }
    step = step_;
    // Not before everybody has left: whoever comes late would leave the instance's next step
    // instead.
    if (!ended_ && active_ == 0 && (missing_ == 0 || !error_.ok())) {
      ended_ = true;
      if (error_.kind() == error_kind::resource_exhausted) // now that nothing runs
        error_ = failure(error_.kind(), error_.message(), of_.describe_largest_tensors());
      to_tell = std::exchange(observer_, nullptr);
      cancels |= !error_.ok(); // again: a region may have asked a queue while the step failed
    }
  }
  if (cancels && kind != error_kind::ok)
    recorder.note(flight_event::failed, step, 0, static_cast<uint32_t>(kind));
  if (cancels && !of_.program().all_queues().empty())
    recorder.note(flight_event::queues_asked, step);
  if (to_tell)
    recorder.note(flight_event::step_ended, step);
  if (cancels)
    for (const auto& queue : of_.program().all_queues())
      caf::anon_send(queue, queue_cancel{step});
  if (to_tell)
    to_tell->step_ended(unit);
}

void conductor_actor::abort(uint64_t step, status why, caf::execution_unit* unit) {
  bool first = false;
  {
    std::lock_guard guard{mutex_};
    if (ended_ || step_ != step)
      return;
    ++active_;
    first = error_.ok();
  }
  if (first && wants_flight_report(why))
    why = status{why.kind(), why.message() + flight_report(of_, step)};
  leave(std::move(why), false, unit);
}

bool conductor_actor::receive(caf::mailbox_element& message, caf::execution_unit* unit) {
  if (auto* one = content_if<fetched>(message)) {
    if (one->index < fetches_.size())
      fetches_[one->index] = std::move(one->value); // each index has one sender
    return true;
  }
  if (auto* ended = content_if<region_ended>(message)) {
    leave(std::move(ended->outcome), true, unit);
    return true;
  }
  return false;
}

} // namespace troupe
