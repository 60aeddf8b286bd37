#include "troupe/api/train/loop/replicas_copies_loop.hpp"
// The loop of replicas with copies: steps, failures and checkpoints.

#include "troupe/api/internal/retries.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

replicas::state::copies_loop::copies_loop(std::shared_ptr<state> shared, session& in,
                                          location where)
    : state_(std::move(shared)), options_(state_->options), session_(in), where_(where),
      copies_(state_->copies.back()) {
  if (options_.batch)
    batches_.emplace(options_.batch, std::min(copies_->devices().size(), max_batch_threads));
}

replicas_report replicas::state::copies_loop::run() {
  {
    std::jthread watcher;
    if (options_.ps_tasks > 0)
      watcher = std::jthread{[this] { watch_workers(); }};
    std::exception_ptr problem;
    try {
      while (should_continue()) {
        if (members_.empty())
          form_set();
        else
          take_step();
        save();
      }
    } catch (...) {
      problem = std::current_exception();
    }
    {
      std::lock_guard guard{state_->mutex};
      is_ending_ = true;
      state_->changed.notify_all();
    }
    if (watcher.joinable())
      watcher.join();
    if (problem) {
      try {
        await_writer();
      } catch (...) { // the earlier error is thrown
      }
      std::rethrow_exception(problem);
    }
  }
  return finish();
}

// -- steps ----------------------------------------------------------------------------------------

bool replicas::state::copies_loop::should_continue() {
  auto now = clock::now();
  std::lock_guard guard{state_->mutex};
  if (stopped_)
    return false;
  if (state_->stop_requested)
    stop(training_end::stop_requested);
  else if (options_.last_step >= 0 && done_ >= options_.last_step)
    stop(training_end::last_step);
  else if (options_.time_limit > 0 && now >= begin_ + in_ticks(options_.time_limit))
    stop(training_end::time_limit);
  else if (now >= last_good_ + in_ticks(options_.give_up_timeout_seconds))
    throw without_progress();
  if (!stopped_ && std::exchange(changes_found_, false)) { // between two steps
    members_.clear();
    forms_for_changes_ = true;
  }
  return !stopped_;
}

void replicas::state::copies_loop::stop(training_end reason) {
  if (!std::exchange(stopped_, true))
    end_reason_ = reason;
}

error replicas::state::copies_loop::without_progress() const {
  auto text = concat("no step has succeeded for ", options_.give_up_timeout_seconds, " s");
  if (first_cause_)
    text += concat("; the first cause: ", first_cause_->what());
  return error{first_cause_ ? first_cause_->kind() : error_kind::deadline_exceeded, text};
}

void replicas::state::copies_loop::take_step() {
  auto feeds = next_feeds();
  if (!feeds)
    return stop(training_end::data_ended);
  auto start = clock::now();
  auto answer = run_step(*std::move(feeds));
  if (!answer) { // the run must end, and the step takes too long
    abandoned_step_ = true;
    return stop(training_end::stop_requested);
  }
  if (*answer) {
    update_usual(is_first_step_ ? usual_.first_step : usual_.step, start);
    is_first_step_ = false;
    return record_step(number_in((*answer)->front()));
  }
  if (answer->status().kind() == error_kind::out_of_range)
    return stop(training_end::data_ended);
  handle_failure(error{answer->status()});
}

// Returns the feeds of one batch for each member of the set; nullopt at the end of the data.
std::optional<std::vector<tensor>> replicas::state::copies_loop::next_feeds() {
  std::vector<tensor> feeds;
  if (!batches_)
    return feeds;
  const auto count = std::ssize(members_);
  batches_->request(next_, count);
  for (auto number = next_; number < next_ + count; ++number) {
    const auto& batch = batches_->get(number);
    if (!batch)
      return std::nullopt;
    feeds.insert(feeds.end(), batch->begin(), batch->end());
  }
  return feeds;
}

// A worker may be lost without a sign: it is frozen, or its process ended just before a step, which
// then waits for the restarted worker. Therefore a step that takes ten times as long as usual times
// out. If such a timeout was wrong, the usual duration is reset.
std::chrono::milliseconds replicas::state::copies_loop::timeout_for(seconds usual) const {
  if (usual == seconds{})
    return in_milliseconds(options_.step_timeout_seconds);
  return in_milliseconds(
      std::min(options_.step_timeout_seconds, options_.lost_timeout_seconds + 10 * usual.count()));
}

void replicas::state::copies_loop::update_usual(seconds& usual, clock::time_point since) {
  constexpr double weight = 1.0 / 16;
  seconds duration = clock::now() - since;
  usual = usual == seconds{} ? duration : usual + weight * (duration - usual);
}

// Returns nullopt if the run must end and the step does not.
replicas::state::copies_loop::outcome
replicas::state::copies_loop::run_step(std::vector<tensor> feeds) {
  auto answer = std::make_shared<outcome>();
  prepared_->run_async(
      std::move(feeds),
      [shared = state_, answer](result<std::vector<tensor>> fetched) {
        std::lock_guard guard{shared->mutex};
        *answer = std::move(fetched);
        shared->changed.notify_all();
      },
      {.timeout = timeout_for(is_first_step_ ? usual_.first_step : usual_.step)}, where_);
  if (batches_)
    batches_->request(next_ + std::ssize(members_), std::ssize(members_));
  std::unique_lock lock{state_->mutex};
  state_->changed.wait(lock, [&] { return answer->has_value() || state_->stop_requested; });
  state_->changed.wait_for(lock, end_timeout, [&] { return answer->has_value(); });
  return *answer;
}

// Records a successful step.
void replicas::state::copies_loop::record_step(double loss) {
  ++done_;
  ++steps_;
  next_ += static_cast<int64_t>(members_.size());
  loss_ = loss;
  for (auto member : members_)
    ++counts_[member].steps;
  last_good_ = clock::now();
  if (std::exchange(attempts_, 0) > 0)
    state_->report_event({.kind = replica_event_kind::recovered, .step = done_});
  first_cause_.reset();
  training_progress progress{.step = done_,
                             .loss = loss,
                             .replica = source_,
                             .steps_per_second =
                                 static_cast<double>(steps_) /
                                 std::max(seconds{last_good_ - begin_}.count(), 1e-9)};
  if (options_.stop_at_nan && !std::isfinite(loss))
    stop(training_end::not_a_number);
  else if (options_.stop_when && options_.stop_when(progress))
    stop(training_end::condition);
  for (auto member : members_) {
    progress.replica = member;
    if (options_.on_step)
      options_.on_step(progress);
  }
  last_good_ = clock::now(); // the callbacks may take long
}

// The set is formed again. The first attempt is immediate, because agreeing on live tasks takes
// time itself.
void replicas::state::copies_loop::handle_failure(const error& cause) {
  // In a cluster with changing members, a task may have left: the others are a smaller set.
  if (!may_pass_for_replicas(cause, true))
    throw cause;
  for (auto member : members_)
    ++counts_[member].failures;
  if (!members_.empty())
    unconfirmed_members_ = std::ssize(members_);
  members_.clear();
  was_late_ |= cause.kind() == error_kind::deadline_exceeded;
  if (!first_cause_)
    first_cause_ = cause;
  state_->report_event({.kind = replica_event_kind::retrying, .step = done_, .text = cause.what()});
  if (attempts_++ == 0)
    return;
  std::unique_lock lock{state_->mutex};
  state_->changed.wait_for(lock, retry_pause(options_.retry_delay_seconds, attempts_),
                           [&] { return state_->stop_requested || changes_found_; });
}

// -- checkpoints ----------------------------------------------------------------------------------

bool replicas::state::copies_loop::save_is_due() const {
  auto by_steps = options_.checkpoint_steps;
  auto by_time = options_.checkpoint_seconds;
  // Not before the first step of a set, because a save might wait for a member that has just
  // failed.
  return writes_checkpoints() && !members_.empty() && !is_first_step_ && !stopped_ &&
         done_ > saved_step_ && clock::now() >= save_again_at_ &&
         (is_checkpoint_due(saved_step_, done_, by_steps) ||
          (by_time > 0 && clock::now() >= saved_at_ + in_ticks(by_time)));
}

saver& replicas::state::copies_loop::checkpoint_saver(size_t replica) {
  auto saver_settings = options_.checkpoint_options;
  saver_settings.on_warning = [shared = state_.get()](const std::string& text) {
    shared->report_save_warning(text);
  };
  auto& checkpoints = copies_->saver_of(replica, saver_settings);
  saver_access::use_lock(checkpoints, state_->lock);
  saver_access::watch(checkpoints, {.saved = [this](int64_t step, const std::string& path) {
                        wrote_checkpoint_ = true;
                        state_->report_event(
                            {.kind = replica_event_kind::saved, .step = step, .text = path});
                      }});
  checkpoints.set_step_timeout(in_milliseconds(options_.step_timeout_seconds));
  checkpoints.add_notes([this] {
    return std::map<std::string, std::string>{{next_batch_key, concat(next_)}};
  });
  return checkpoints;
}

// Values are read between two steps: a consistent cut. No step waits for the previous checkpoint.
void replicas::state::copies_loop::save() {
  if (active_saver_ && !active_saver_->is_writing())
    finish_write();
  if (active_saver_ || !save_is_due())
    return;
  try {
    saved_at_ = clock::now();
    auto& checkpoints = checkpoint_saver(source_);
    checkpoints.set_step_timeout(timeout_for(usual_.read));
    checkpoints.save_async(session_, done_, where_);
    update_usual(usual_.read, saved_at_);
    active_saver_ = &checkpoints;
    saved_step_ = done_;
    if (options_.checkpoint_options
            .sharded_by_task) // tasks read in a step of their own, which must end before the next
      finish_write();
  } catch (const error& cause) {
    if (saver_access::is_refused(
            checkpoint_saver(source_))) // another process has taken the folder over
      throw;
    if (cause.kind() == error_kind::deadline_exceeded)
      usual_.read = {}; // its duration may have grown
    warn(cause);
    save_again_at_ = clock::now() + failed_save_interval;
  }
}

// Waits for the writer. A checkpoint that was not written is retried later.
void replicas::state::copies_loop::finish_write() {
  const auto* checkpoints = active_saver_;
  try {
    await_writer();
  } catch (const error& cause) {
    if (checkpoints && saver_access::is_refused(*checkpoints))
      throw;
    warn(cause);
    saved_step_ = -1;
    save_again_at_ = clock::now() + failed_save_interval;
  }
}

void replicas::state::copies_loop::await_writer() {
  if (!active_saver_)
    return;
  std::exchange(active_saver_, nullptr)->wait(where_);
}

void replicas::state::copies_loop::warn(const error& cause) {
  state_->report_event({.kind = replica_event_kind::warning, .step = done_, .text = cause.what()});
}

replicas_report replicas::state::copies_loop::finish() {
  if (writes_checkpoints())
    finish_write(); // a failure does not prevent the last save
  if (writes_checkpoints() && members_.empty() && !complete_.empty() && !abandoned_step_ &&
      end_reason_ != training_end::not_a_number) // some replicas have the values to save
    try {
      form_set();
    } catch (const error& cause) {
      warn(cause);
    }
  replicas_report report{.step = done_,
                         .end_reason = end_reason_,
                         .loss = loss_,
                         .restored_from = restored_from_,
                         .replicas = counts_};
  if (!writes_checkpoints())
    return report;
  if (end_reason_ == training_end::not_a_number || members_.empty() || abandoned_step_ ||
      (done_ == saved_step_ && (wrote_checkpoint_ || restored_from_ >= 0))) {
    report.checkpoint = state_->newest_checkpoint();
    return report;
  }
  report.checkpoint = checkpoint_saver(source_).save(session_, done_, where_);
  return report;
}

} // namespace troupe
