// The chief: initializes variables, takes the steps of sync, and writes checkpoints.
#include "troupe/api/internal/retries.hpp"
#include "troupe/api/train/loop/replicas_loop.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

void replicas::state::loop::run_chief() {
  prepare_to_run({});
  while (should_continue()) {
    if (state_->is_sync())
      take_step();
    else
      watch_replicas();
    save();
  }
}

bool replicas::state::loop::should_continue() {
  run_lock lock{state_->mutex};
  check_end_conditions();
  return !stopped_;
}

// -- ends -----------------------------------------------------------------------------------------

// Requires the mutex. Checks the conditions that depend on time or on other threads.
void replicas::state::loop::check_end_conditions() {
  if (stopped_)
    return;
  auto now = clock::now();
  if (state_->stop_requested)
    stop(training_end::stop_requested);
  else if (options_.last_step >= 0 && done_ >= options_.last_step)
    stop(training_end::last_step);
  else if (options_.time_limit > 0 && now >= begin_ + in_ticks(options_.time_limit))
    stop(training_end::time_limit);
  else if (now >= last_good_ + in_ticks(options_.give_up_timeout_seconds))
    give_up(std::make_exception_ptr(without_progress()));
}

error replicas::state::loop::without_progress() const {
  std::string lost;
  for (const auto& [number, replica] : replicas_)
    if (replica.attempts > 0 && !replica.ended)
      lost += concat(lost.empty() ? "" : ", ", number);
  auto text = concat("no step has succeeded for ", options_.give_up_timeout_seconds, " s");
  if (state_->is_sync())
    text += concat(", where each takes the gradients of ", required(), " replicas");
  if (options_.elastic && in_step() == 0)
    text += concat("; no task of the job ", options_.worker_job, " takes part");
  if (!lost.empty())
    text += concat("; failing replicas: ", lost);
  if (first_cause_)
    text += concat("; the first cause: ", first_cause_->what());
  return error{first_cause_ ? first_cause_->kind() : error_kind::deadline_exceeded, text};
}

// Returns the next time at which a condition may change without an event.
std::chrono::steady_clock::time_point replicas::state::loop::next_check() const {
  auto next_time = std::min(last_good_ + in_ticks(options_.give_up_timeout_seconds),
                            std::max(checked_at_, last_good_) + probe_delay_);
  if (options_.time_limit > 0)
    next_time = std::min(next_time, begin_ + in_ticks(options_.time_limit));
  if (!state_->is_sync() && writes_checkpoints() && options_.checkpoint_seconds > 0 &&
      done_ > saved_step_)
    next_time = std::min(
        next_time, std::max(saved_at_ + in_ticks(options_.checkpoint_seconds), save_again_at_));
  return next_time;
}

// Waits until `done`, the end of the run, or a due checkpoint that may be read at any time.
template <class Done>
void replicas::state::loop::wait_for(run_lock& lock, Done done) {
  auto can_save_now = [&] { return !state_->is_sync() && save_is_due(); };
  while (!stopped_ && !done() && !can_save_now()) {
    state_->changed.wait_until(lock, next_check(), [&] {
      return stopped_ || state_->stop_requested || done() || can_save_now();
    });
    check_end_conditions();
    if (auto now = clock::now(); now >= std::max(checked_at_, last_good_) + probe_delay_) {
      // No progress: check whether the ps tasks are available.
      must_check_ = true;
      probe_delay_ = last_good_ > checked_at_ ? first_probe_delay
                                              : std::min(probe_delay_ * 2, max_probe_delay);
      checked_at_ = now;
    }
  }
}

// -- steps ----------------------------------------------------------------------------------------

// Takes one common step: takes the first gradients, and updates the variables.
void replicas::state::loop::take_step() {
  if (!pending_) {
    std::vector<tensor> feeds{tensor::scalar(label_ + 1)};
    if (options_.elastic) {
      run_lock lock{state_->mutex};
      pending_gradients_ = required();
      feeds.push_back(tensor::scalar(int32_t{pending_gradients_}));
    }
    pending_ = start(*apply_, std::move(feeds));
  }
  run_lock lock{state_->mutex};
  auto takes_too_many = [&] { return options_.elastic && required() < pending_gradients_; };
  wait_for(lock, [&] { return pending_->has_value() || must_check_ || takes_too_many(); });
  if (pending_->has_value())
    return finish_step(lock);
  if (!stopped_ && takes_too_many()) { // the remaining replicas restart the step
    ready_ = false;
    lock.unlock();
    prepare_to_run({});
  } else if (!stopped_ && std::exchange(must_check_, false)) {
    lock.unlock();
    check_variables();
  }
}

void replicas::state::loop::finish_step(run_lock& lock) {
  auto answer = std::move(**pending_);
  pending_.reset();
  if (answer) {
    ++label_;
    last_good_ = clock::now();
    first_cause_.reset();
    if (++done_ == options_.last_step)
      stop(training_end::last_step);
    return;
  }
  unconfirmed_label_ = label_ + 1; // the step may have succeeded, with its answer lost
  if (stopped_)
    return;
  ready_ = false;
  lock.unlock();
  prepare_to_run(error{answer.status()});
}

void replicas::state::loop::watch_replicas() {
  {
    run_lock lock{state_->mutex};
    wait_for(lock, [&] { return must_check_; });
    if (stopped_ || !std::exchange(must_check_, false))
      return;
  }
  check_variables();
}

// Called after a failure of a replica: checks whether variables are lost.
void replicas::state::loop::check_variables() {
  std::optional<error> reason;
  try {
    if (!lost_state())
      return rebuild_clock();
    reason = error{error_kind::aborted, "variables have lost their values"};
  } catch (const error& cause) {
    reason = cause;
  }
  {
    run_lock lock{state_->mutex};
    ready_ = false;
  }
  prepare_to_run(reason);
}

// -- start and recovery ---------------------------------------------------------------------------

// Returns when all variables have values and steps may begin, or when the run must end.
void replicas::state::loop::prepare_to_run(std::optional<error> cause) {
  for (int attempts = 0;; ++attempts) {
    if (cause) {
      run_lock lock{state_->mutex};
      if (!may_pass_for_replicas(*cause))
        return give_up(std::make_exception_ptr(*cause));
      if (!first_cause_)
        first_cause_ = cause;
      state_->report_event(
          {.kind = replica_event_kind::retrying, .step = done_, .text = cause->what()});
      pause(lock, attempts);
      check_end_conditions();
      if (stopped_)
        return;
    }
    try {
      drop_pending();
      initialization_.run(session_, where_, [&] {
        if ((!has_begun_ && !initialization_.may_be_initialized()) || lost_state() ||
            initialization_.is_incomplete(session_))
          initialize_variables();
      });
      open_step();
      if (state_->is_sync() && !apply_)
        apply_ = session_.prepare(options_.elastic
                                      ? std::vector{state_->chief.label, state_->chief.required}
                                      : std::vector{state_->chief.label},
                                  {}, {state_->chief.apply}, where_);
      run_lock lock{state_->mutex};
      ready_ = true;
      must_check_ = false;
      state_->changed.notify_all();
      if (cause)
        state_->report_event({.kind = replica_event_kind::recovered, .step = done_});
      return;
    } catch (const error& failure_cause) {
      cause = failure_cause;
    }
  }
}

bool replicas::state::loop::lost_state() {
  auto flags =
      session_.run({}, state_->chief.initialized, {},
                   {.timeout = in_milliseconds(5 * options_.lost_timeout_seconds)}, where_);
  return std::ranges::any_of(flags, [](const tensor& flag) { return !*flag.data<bool>(); });
}

// Gives all variables their values: from a checkpoint, or their initial values. Steps of replicas
// that are still running belong to the time before. With sync, their gradients are dropped; in
// other modes they count as late gradients.
void replicas::state::loop::initialize_variables() {
  std::optional<restore_report> restored;
  apply_.reset(); // its nodes may be placed differently now
  if (writes_checkpoints()) {
    set_restoring(true);
    try {
      await_writer();
    } catch (const error& cause) { // an older checkpoint or none is restored, as after a crash
      run_lock lock{state_->mutex};
      warn(done_, cause);
    }
    set_restoring(false);
    if (options_.resume || wrote_checkpoint_) {
      if (options_.partial) // for variables that the checkpoint does not have
        session_.run({}, {}, {state_->chief.initializer},
                     {.timeout = in_milliseconds(options_.step_timeout_seconds)}, where_);
      restored =
          saver_access::restore(*state_->checkpoints, session_, options_.partial,
                                "replicas_options::partial", error_kind::invalid_argument, where_);
    }
  }
  if (restored)
    state_->report_differences(*restored);
  if (!restored)
    session_.run({}, {}, {state_->chief.initializer},
                 {.timeout = in_milliseconds(options_.step_timeout_seconds)}, where_);
  run_lock lock{state_->mutex};
  if (!std::exchange(has_begun_, true) && restored)
    restored_from_ = restored->step;
  done_ = saved_step_ = restored ? restored->step : 0;
  // A step of sync has at least one batch for each replica.
  next_ = state_->is_sync() ? std::max(next_, done_ * options_.workers) : done_;
  returned_batches_.clear();
  unconfirmed_label_ = -1; // the updates of that step are lost
  saved_at_ = clock::now();
  ++beginnings_;
  state_->report_event(
      {.kind = restored ? replica_event_kind::restored : replica_event_kind::initialized,
       .step = done_,
       .text = restored ? restored->path : ""});
}

// bounded: the clock gets exactly the replicas for which `is_live` returns true. `is_live` is
// called with the mutex.
template <class Predicate>
void replicas::state::loop::open_clock(Predicate is_live) {
  const auto& chief = state_->chief;
  const run_options step_options{.timeout = control_timeout};
  session_.run({{chief.replica, int64_t{-1}}}, {}, {chief.leave}, step_options, where_);
  std::vector<int> numbers;
  {
    run_lock lock{state_->mutex};
    for (auto& [number, replica] : replicas_)
      if (!replica.ended && !replica.must_leave && is_live(replica))
        numbers.push_back(number);
  }
  for (auto number : numbers) {
    session_.run({{chief.replica, int64_t{number}}}, {}, {chief.join}, step_options, where_);
    run_lock lock{state_->mutex};
    auto& replica = replicas_.at(number);
    if (replica.ended ||
        replica.must_leave) { // its thread may have left the clock before it joined
      lock.unlock();
      session_.run({{chief.replica, int64_t{number}}}, {}, {chief.leave}, step_options, where_);
      continue;
    }
    replica.is_awaited = true;
    state_->changed.notify_all(); // its thread leaves the clock again if it has nothing to do
  }
}

// A late step of an earlier run may have added a replica to the clock that this run does not have.
// It never advances, so all others would wait for it until their steps fail.
void replicas::state::loop::rebuild_clock() {
  {
    run_lock lock{state_->mutex};
    if (!std::exchange(may_stall_, false))
      return;
  }
  open_clock(
      [](const replica_thread& replica) { return replica.attempts == 0 && replica.is_awaited; });
}

// Drops all earlier gradients, whatever the outcome of the chief's last step was. Then replicas may
// begin.
void replicas::state::loop::open_step() {
  const auto& chief = state_->chief;
  const run_options step_options{.timeout = control_timeout};
  if (state_->is_bounded())
    open_clock([](const replica_thread&) { return true; });
  if (!state_->is_sync())
    return;
  auto opened = to_scalar<int64_t>(
      session_.run({}, {chief.opened}, std::vector<target>{}, step_options, where_).front(),
      where_);
  if (auto label = std::exchange(unconfirmed_label_, -1); label >= 0 && label == opened) {
    run_lock lock{state_->mutex}; // it succeeded, and its batches must not be computed again
    label_ = label;
    last_good_ = clock::now();
    if (++done_ == options_.last_step)
      return stop(training_end::last_step);
  }
  // A failed step may have taken from some of the accumulators, whose labels are then one ahead.
  auto label = std::max(label_, opened) + 2;
  session_.run({{chief.label, label}}, {}, {chief.set_labels}, step_options, where_);
  session_.run({}, {}, {chief.clear}, step_options, where_);
  {
    run_lock lock{state_->mutex};
    label_ = label_base_ = label;
    step_base_ = done_;
  }
  session_.run({{chief.label, label}}, {}, {chief.open}, step_options, where_);
}

// Ends the chief's pending step.
void replicas::state::loop::drop_pending() {
  if (!pending_)
    return;
  auto has_ended = [&] {
    run_lock lock{state_->mutex};
    return state_->changed.wait_for(lock, end_interval, [&] { return pending_->has_value(); });
  };
  for (auto deadline = clock::now() + end_timeout; !has_ended() && clock::now() < deadline;)
    session_.run({}, {}, {state_->chief.clear}, {.timeout = release_timeout}, where_);
  run_lock lock{state_->mutex};
  if (pending_->has_value() && **pending_) {
    ++label_;
    ++done_;
  } else {
    unconfirmed_label_ = label_ + 1;
  }
  pending_.reset();
}

// -- checkpoints ----------------------------------------------------------------------------------

// Requires the mutex.
bool replicas::state::loop::save_is_due() const {
  auto by_steps = options_.checkpoint_steps;
  auto by_time = options_.checkpoint_seconds;
  return writes_checkpoints() && ready_ && !stopped_ && done_ > saved_step_ &&
         clock::now() >= save_again_at_ &&
         (is_checkpoint_due(saved_step_, done_, by_steps) ||
          (by_time > 0 && clock::now() >= saved_at_ + in_ticks(by_time)));
}

// With sync, values are read between two steps of the chief: a consistent cut. No step waits for
// the previous checkpoint, whose duration depends on the disk and on other tasks.
void replicas::state::loop::save() {
  auto written = writing_ && !state_->checkpoints->is_writing();
  auto due = false;
  int64_t step_number = 0;
  {
    run_lock lock{state_->mutex};
    step_number = done_;
    due = save_is_due() && !pending_;
    if (due && writing_ && !written) {
      due = false;
      save_again_at_ = clock::now() + save_interval;
    }
    if (due)
      saved_at_ = clock::now();
  }
  if (!due && !written)
    return;
  try {
    await_writer();
    if (!due)
      return;
    state_->checkpoints->save_async(session_, step_number, where_);
    writing_ = step_number;
    run_lock lock{state_->mutex};
    saved_step_ = step_number;
  } catch (const error& cause) {
    if (saver_access::is_refused(*state_->checkpoints)) // another process has taken the folder over
      throw;
    warn(step_number, cause);
    run_lock lock{state_->mutex};
    save_again_at_ = clock::now() + failed_save_interval;
  }
}

void replicas::state::loop::watch_saver() {
  saver_access::watch(*state_->checkpoints,
                      {.begun =
                           [this](int64_t) {
                             run_lock lock{state_->mutex};
                             read_until_id_ = last_step_id_;
                           },
                       .may_publish = [this] { return is_sound(); },
                       .saved =
                           [this](int64_t step, const std::string& path) {
                             wrote_checkpoint_ = true;
                             state_->report_event(
                                 {.kind = replica_event_kind::saved, .step = step, .text = path});
                           }});
}

// Called on the writing thread: waits for all steps that may have contributed to the checkpoint,
// and returns true if none of them had a loss that is NaN or infinite.
bool replicas::state::loop::is_sound() {
  run_lock lock{state_->mutex};
  const auto last_contributor = options_.checkpoint_options.sharded_by_task
                                    ? last_step_id_
                                    : read_until_id_; // tasks read while they write
  state_->changed.wait(lock, [&] {
    return is_restoring_ || std::ranges::none_of(replicas_, [&](const auto& entry) {
             const auto& replica = entry.second;
             return replica.step_id > 0 && replica.step_id <= last_contributor &&
                    replica.attempts == 0 && !replica.must_leave;
           });
  });
  return first_bad_id_ > last_contributor;
}

void replicas::state::loop::set_restoring(bool restoring) {
  run_lock lock{state_->mutex};
  is_restoring_ = restoring;
  state_->changed.notify_all();
}

void replicas::state::loop::warn(int64_t step, const error& cause) {
  state_->report_event({.kind = replica_event_kind::warning, .step = step, .text = cause.what()});
}

void replicas::state::loop::await_writer() {
  if (!writing_)
    return;
  writing_.reset();
  state_->checkpoints->wait(where_);
}

replicas_report replicas::state::loop::finish() {
  replicas_report report{
      .step = done_, .end_reason = end_reason_, .loss = loss_, .restored_from = restored_from_};
  for (const auto& [number, replica] : replicas_) {
    report.replicas.resize(static_cast<size_t>(number) + 1);
    report.replicas.back() = replica.counts;
  }
  if (!writes_checkpoints())
    return report;
  try {
    await_writer();
  } catch (const error& cause) { // does not prevent the last save
    saved_step_ = -1;
    warn(done_, cause);
  }
  if (end_reason_ == training_end::not_a_number || !ready_ ||
      (done_ == saved_step_ && (wrote_checkpoint_ || restored_from_ >= 0))) {
    report.checkpoint = state_->newest_checkpoint();
    return report;
  }
  {
    run_lock lock{state_->mutex};
    read_until_id_ = last_step_id_;
  }
  report.checkpoint = state_->checkpoints->save(session_, done_, where_);
  return report;
}

} // namespace troupe
