#include "troupe/api/train/loop/replicas_loop.hpp"
// The threads of replicas: their steps, their failures, and the end of a run.

#include "troupe/api/internal/retries.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace troupe {

replicas::state::loop::loop(std::shared_ptr<state> shared, session& in, location where)
    : state_(std::move(shared)), options_(state_->options), session_(in), where_(where) {}

replicas_report replicas::state::loop::run() {
  if (writes_checkpoints())
    watch_saver();
  {
    std::jthread follower;
    try {
      if (options_.elastic)
        follower = std::jthread{[this] { follow_tasks(); }};
      else
        for (int i = 0; i < options_.workers; ++i)
          add(i);
      run_chief();
    } catch (...) {
      run_lock lock{state_->mutex};
      give_up(std::current_exception());
    }
  } // no replica is started after this point
  end_steps();
  for (auto& [number, replica] : replicas_)
    if (replica.thread.joinable())
      replica.thread.join();
  if (problem_) {
    try {
      await_writer();
    } catch (...) { // the earlier error is thrown
    }
    std::rethrow_exception(problem_);
  }
  return finish();
}

// -- replicas -------------------------------------------------------------------------------------

void replicas::state::loop::work(replica_thread& self) {
  while (wait_until_ready(self)) {
    try {
      run_step(self);
    } catch (const error& cause) {
      handle_failure(self, cause);
    } catch (...) {
      run_lock lock{state_->mutex};
      give_up(std::current_exception());
    }
    unregister_step(self);
  }
  run_lock lock{state_->mutex};
  if (self.must_leave) {
    return_batch(self);
    if (state_->is_bounded())
      leave_clock(lock, self);
  }
  self.ended = true;
  state_->changed.notify_all();
}

// Waits until the replica can take a step. Returns false at the end.
bool replicas::state::loop::wait_until_ready(replica_thread& self) {
  run_lock lock{state_->mutex};
  for (;;) {
    state_->changed.wait(lock, [&] {
      return stopped_ || self.must_leave || may_begin() || (ready_ && self.is_awaited);
    });
    if (stopped_ || self.must_leave)
      return false;
    if (may_begin())
      return true;
    leave_clock(lock, self); // others must not wait for it; the chief may add it to the clock again
  }
}

// Requires the mutex.
bool replicas::state::loop::may_begin() const {
  return ready_ && (state_->is_sync() || options_.last_step < 0 || next_ < options_.last_step ||
                    !returned_batches_.empty());
}

// Takes the next batch. Returns false if another replica has taken it, or the run must end.
bool replicas::state::loop::take_batch(replica_thread& self) {
  run_lock lock{state_->mutex};
  if (stopped_ || !may_begin())
    return false;
  self.returned_batch = -1;
  self.beginning = beginnings_;
  if (state_->is_sync() && self.label < label_base_)
    self.label = label_;
  if (!state_->assigns_batches()) {
    self.batch = step_of(self.label) * options_.workers + self.number;
  } else if (!returned_batches_.empty()) {
    self.batch = returned_batches_.extract(returned_batches_.begin()).value();
  } else {
    self.batch = next_++;
  }
  return true;
}

// Requires the mutex. Returns the batch, so that another replica can compute it.
void replicas::state::loop::return_batch(replica_thread& self) {
  auto batch = std::exchange(self.batch, -1);
  if (!state_->assigns_batches() || batch < 0 || self.beginning != beginnings_)
    return;
  returned_batches_.insert(batch);
  self.returned_batch = batch;
  state_->changed.notify_all();
}

// Requires the mutex. Returns true if a successful step counts. A slow step may end after another
// replica has computed its batch, and has updated the variables once more.
bool replicas::state::loop::is_counted(replica_thread& self) {
  if (self.beginning != beginnings_)
    return false;
  if (self.returned_batch >= 0)
    returned_batches_.erase(self.returned_batch);
  return options_.last_step < 0 || done_ < options_.last_step;
}

void replicas::state::loop::run_step(replica_thread& self) {
  if (!self.prepared || self.attempts > 0) // a step would wait for a lost task
    probe_worker(self);
  if (!self.prepared && !prepare(self))
    return;
  if (!take_batch(self))
    return;
  std::vector<tensor> feeds;
  if (options_.batch) {
    auto batch = options_.batch(self.batch);
    if (!batch) {
      run_lock lock{state_->mutex};
      return stop(training_end::data_ended);
    }
    feeds = *std::move(batch);
  }
  if (state_->is_sync())
    feeds.push_back(tensor::scalar(self.label));
  register_step(self);
  if (auto fetched = await(self, *start(*self.prepared, std::move(feeds))))
    record_step(self, number_in(fetched->front()), *fetched);
}

bool replicas::state::loop::prepare(replica_thread& self) {
  const auto& worker_graph = *self.graph;
  auto feeds = worker_graph.model.feeds;
  std::vector<edge> fetches{worker_graph.model.loss};
  if (worker_graph.label)
    feeds.push_back(worker_graph.label);
  if (worker_graph.next)
    fetches.push_back(worker_graph.next);
  std::vector<target> targets;
  if (worker_graph.train)
    targets.emplace_back(worker_graph.train);
  if (worker_graph.prepare) {
    auto first = session_.prepare({}, {}, {worker_graph.prepare}, where_);
    if (!await(self, *start(first, {})))
      return false;
  }
  self.prepared = session_.prepare(feeds, fetches, targets, where_);
  return true;
}

// Records a successful step of a replica.
void replicas::state::loop::record_step(replica_thread& self, double loss,
                                        const std::vector<tensor>& fetched) {
  training_progress progress{.loss = loss, .replica = static_cast<size_t>(self.number)};
  {
    run_lock lock{state_->mutex};
    auto next = state_->is_sync() ? to_scalar<int64_t>(fetched.back(), where_) : 0;
    if (stopped_ && next > self.label + 1 && state_->is_sync())
      return; // released at the end of the run: no common step has taken its gradients
    auto now = clock::now();
    auto is_bad = options_.stop_at_nan && !std::isfinite(loss);
    if (is_bad)
      first_bad_id_ = std::min(first_bad_id_, self.step_id);
    self.step_id = 0;
    state_->changed.notify_all(); // the writer of a checkpoint may wait for this step
    if (!is_bad && end_reason_ != training_end::not_a_number)
      loss_ = loss;
    ++count_;
    ++self.counts.steps;
    self.batch = -1;
    self.is_in_step = !self.must_leave;
    self.is_awaited = state_->is_bounded(); // the step has added it to the clock
    if (std::exchange(self.attempts, 0) > 0)
      state_->report_event(
          {.kind = replica_event_kind::back, .step = done_, .replica = self.number});
    auto speed = static_cast<double>(count_) / std::max(seconds{now - begin_}.count(), 1e-9);
    if (state_->is_sync()) {
      if (self.returned_batch >= 0)
        returned_batches_.erase(self.returned_batch);
      progress.step = std::max(step_of(self.label) + 1, done_); // the step may be late
      progress.steps_per_second = speed / std::max(in_step(), 1);
      self.label = next;
    } else {
      if (is_counted(self) && ++done_ == options_.last_step)
        stop(training_end::last_step);
      progress.step = done_;
      progress.steps_per_second = speed;
      last_good_ = now;
      first_cause_.reset();
    }
    if (is_bad &&
        std::exchange(end_reason_, training_end::not_a_number) != training_end::not_a_number) {
      loss_ = loss; // overrides any other reason to end: the values must not be saved
      stop(training_end::not_a_number);
    } else if (!stopped_ && options_.stop_when && options_.stop_when(progress))
      stop(training_end::condition);
    if (!state_->is_sync() && save_is_due())
      state_->changed.notify_all();
  }
  if (!options_.on_step)
    return;
  try {
    options_.on_step(progress);
  } catch (...) { // an error of the callback, not of the replica
    run_lock lock{state_->mutex};
    give_up(std::current_exception());
  }
}

// After this call, a checkpoint may include effects of the step.
void replicas::state::loop::register_step(replica_thread& self) {
  run_lock lock{state_->mutex};
  self.step_id = ++last_step_id_;
}

void replicas::state::loop::unregister_step(replica_thread& self) {
  run_lock lock{state_->mutex};
  if (std::exchange(self.step_id, 0) > 0)
    state_->changed.notify_all();
}

// The replica retries after a pause, and the others continue.
void replicas::state::loop::handle_failure(replica_thread& self, const error& cause) {
  run_lock lock{state_->mutex};
  ++self.counts.failures;
  self.label = -1;
  if (stopped_)
    return;
  if (cause.kind() == error_kind::out_of_range)
    return stop(training_end::data_ended);
  if (!may_pass_for_replicas(cause, options_.elastic))
    return give_up(std::make_exception_ptr(cause));
  // Other errors keep the prepared step, which is registered again without a waiting thread.
  if (cause.kind() == error_kind::aborted || cause.kind() == error_kind::failed_precondition)
    self.prepared.reset();
  must_check_ = true;
  may_stall_ |= state_->is_bounded() && cause.kind() == error_kind::deadline_exceeded;
  state_->changed.notify_all();
  auto attempts = self.attempts;
  mark_lost(lock, self, cause);
  pause(lock, attempts, &self);
}

// With bounded, the others no longer wait for the replica. With async and bounded, its batch is
// returned.
void replicas::state::loop::mark_lost(run_lock& lock, replica_thread& self, const error& cause) {
  if (self.attempts++ == 0)
    state_->report_event({.kind = replica_event_kind::lost,
                          .step = done_,
                          .replica = self.number,
                          .text = cause.what()});
  if (!first_cause_)
    first_cause_ = cause;
  self.is_in_step = false;
  state_->changed.notify_all(); // the chief's step may wait for this replica
  return_batch(self);
  if (state_->is_bounded())
    leave_clock(lock, self);
}

// Requires the mutex. Returns the number of replicas that give gradients, as far as is known.
int replicas::state::loop::in_step() const {
  return static_cast<int>(
      std::ranges::count_if(replicas_, [](const auto& entry) { return entry.second.is_in_step; }));
}

// Requires the mutex. Returns the number of gradients of a step of sync.
int replicas::state::loop::required() const {
  auto minimum = options_.workers - options_.backups;
  return options_.elastic ? std::max(in_step() - options_.backups, minimum) : minimum;
}

// Throws unless the replica's task answers.
void replicas::state::loop::probe_worker(const replica_thread& self) {
  if (auto* probe = self.graph->probe)
    session_.run({}, {}, {probe}, {.timeout = in_milliseconds(options_.lost_timeout_seconds)},
                 where_);
}

// Removes the replica from the clock, so that the others do not wait for it. An error is ignored,
// because the next failure tries again.
void replicas::state::loop::leave_clock(run_lock& lock, replica_thread& self) {
  self.is_awaited = false;
  lock.unlock();
  try {
    session_.run({{state_->chief.replica, int64_t{self.number}}}, {}, {state_->chief.leave},
                 {.timeout = control_timeout}, where_);
  } catch (const error&) {
  }
  lock.lock();
}

// -- steps of replicas and of the chief -----------------------------------------------------------

// Starts a step for which the caller may stop to wait.
std::shared_ptr<replicas::state::loop::outcome>
replicas::state::loop::start(step& prepared, std::vector<tensor> feeds) {
  auto answer = std::make_shared<outcome>();
  prepared.run_async(
      std::move(feeds),
      [shared = state_, answer](result<std::vector<tensor>> fetched) {
        std::lock_guard guard{shared->mutex};
        *answer = std::move(fetched);
        shared->changed.notify_all();
      },
      {.timeout = in_milliseconds(options_.step_timeout_seconds)}, where_);
  return answer;
}

// Returns nullopt for a step of a frozen task at the end of the run, which is abandoned.
std::optional<std::vector<tensor>> replicas::state::loop::await(replica_thread& self,
                                                                const outcome& answer) {
  run_lock lock{state_->mutex};
  auto has_ended = [&] { return answer.has_value() || abandons_steps_ || self.must_leave; };
  for (auto interval = first_probe_delay; !state_->changed.wait_for(lock, interval, has_ended);) {
    if (stopped_)
      continue;
    // A step that starts just after the loss of its task waits until the task is back.
    std::optional<error> failure_cause;
    lock.unlock();
    try {
      probe_worker(self);
    } catch (const error& cause) {
      failure_cause = cause;
    }
    lock.lock();
    if (failure_cause && !has_ended() && !stopped_)
      mark_lost(lock, self, *failure_cause);
    interval = std::min(interval * 2, max_probe_delay);
  }
  if (!answer.has_value())
    return std::nullopt;
  return value_or_throw(*answer);
}

void replicas::state::loop::pause(run_lock& lock, int attempts, const replica_thread* waiting) {
  state_->changed.wait_for(lock, retry_pause(options_.retry_delay_seconds, attempts), [&] {
    return stopped_ || state_->stop_requested || (waiting && waiting->must_leave);
  });
}

void replicas::state::loop::stop(training_end reason) {
  if (!std::exchange(stopped_, true))
    end_reason_ = reason;
  state_->changed.notify_all();
}

void replicas::state::loop::give_up(std::exception_ptr cause) {
  if (!problem_)
    problem_ = std::move(cause);
  stopped_ = true;
  state_->changed.notify_all();
}

// Returns true if all replicas have ended, not counting those that failed last: they may wait for a
// lost task.
bool replicas::state::loop::all_ended() const {
  return std::ranges::all_of(
      replicas_, [](const auto& entry) { return entry.second.ended || entry.second.attempts > 0; });
}

// Ends the running steps: first those of replicas, which may wait for each other or for the chief,
// then the chief's, which waits for them.
void replicas::state::loop::end_steps() {
  for (auto deadline = clock::now() + end_timeout;;) {
    {
      run_lock lock{state_->mutex};
      state_->changed.wait_for(lock, end_interval, [&] { return all_ended(); });
      if (all_ended() || clock::now() >= deadline) {
        abandons_steps_ = true;
        state_->changed.notify_all();
        break;
      }
    }
    release_replicas();
  }
  try {
    drop_pending();
  } catch (const error&) { // the pending step ends at its timeout
  }
}

// Releases waiting replicas, so that their steps end.
void replicas::state::loop::release_replicas() {
  try {
    if (state_->is_sync())
      session_.run({{state_->chief.label, ++label_ + 1}}, {}, {state_->chief.open},
                   {.timeout = release_timeout}, where_);
    else if (state_->is_bounded())
      for (const auto& [number, replica] : replicas_)
        session_.run({{state_->chief.replica, int64_t{number}}}, {}, {state_->chief.leave},
                     {.timeout = release_timeout}, where_);
  } catch (const error&) { // if ps tasks are lost, steps of replicas fail as well
  }
}

} // namespace troupe
