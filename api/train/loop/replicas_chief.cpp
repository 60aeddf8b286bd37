// The chief: makes variables hold, takes the steps of sync, and writes checkpoints.
#include "troupe/api/internal/retries.hpp"
#include "troupe/api/train/loop/replicas_loop.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

void replicas::state::loop::lead() {
  get_ready({});
  while (going_on()) {
    if (of_->is_sync())
      take_step();
    else
      watch();
    save();
  }
}

bool replicas::state::loop::going_on() {
  lock_of_all lock{of_->mutex};
  check_ends();
  return !stopped_;
}

// -- ends -----------------------------------------------------------------------------------------

// With the mutex: ends that come with time, or from outside.
void replicas::state::loop::check_ends() {
  if (stopped_)
    return;
  auto now = clock::now();
  if (of_->asked)
    stop(training_end::asked);
  else if (options_.last_step >= 0 && done_ >= options_.last_step)
    stop(training_end::last_step);
  else if (options_.time_limit > 0 && now >= begin_ + in_ticks(options_.time_limit))
    stop(training_end::time_over);
  else if (now >= last_good_ + in_ticks(options_.give_up_seconds))
    give_up(std::make_exception_ptr(without_progress()));
}

error replicas::state::loop::without_progress() const {
  std::string lost;
  for (const auto& [number, one] : replicas_)
    if (one.attempts > 0 && !one.ended)
      lost += concat(lost.empty() ? "" : ", ", number);
  auto text = concat("no step has ended well for ", options_.give_up_seconds, " s");
  if (of_->is_sync())
    text += concat(", where each takes the gradients of ", required(), " replicas");
  if (options_.elastic && in_step() == 0)
    text += concat("; no task of the job ", options_.worker_job, " takes part");
  if (!lost.empty())
    text += concat("; replicas that fail: ", lost);
  if (first_cause_)
    text += concat("; the first cause: ", first_cause_->what());
  return error{first_cause_ ? first_cause_->kind() : error_kind::deadline_exceeded, text};
}

// When something may be due that only time brings.
std::chrono::steady_clock::time_point replicas::state::loop::next_look() const {
  auto at = std::min(last_good_ + in_ticks(options_.give_up_seconds),
                     std::max(looked_at_, last_good_) + quiet_now_);
  if (options_.time_limit > 0)
    at = std::min(at, begin_ + in_ticks(options_.time_limit));
  if (!of_->is_sync() && saves() && options_.checkpoint_seconds > 0 && done_ > saved_step_)
    at = std::min(at, std::max(saved_at_ + in_ticks(options_.checkpoint_seconds), save_again_at_));
  return at;
}

// Until it is done, the run is to end, or a checkpoint is due that may be read at any time.
template <class Done>
void replicas::state::loop::wait_for(lock_of_all& lock, Done done) {
  auto saves_now = [&] { return !of_->is_sync() && save_is_due(); };
  while (!stopped_ && !done() && !saves_now()) {
    of_->changed.wait_until(lock, next_look(),
                            [&] { return stopped_ || of_->asked || done() || saves_now(); });
    check_ends();
    if (auto now = clock::now(); now >= std::max(looked_at_, last_good_) + quiet_now_) {
      // Without news: are the ps tasks there?
      suspect_ = true;
      quiet_now_ = last_good_ > looked_at_ ? quiet : std::min(quiet_now_ * 2, longest_quiet);
      looked_at_ = now;
    }
  }
}

// -- steps ----------------------------------------------------------------------------------------

// One step of all: takes the gradients that have come first, and moves the variables.
void replicas::state::loop::take_step() {
  if (!pending_) {
    std::vector<tensor> feeds{tensor::scalar(label_ + 1)};
    if (options_.elastic) {
      lock_of_all lock{of_->mutex};
      taken_ = required();
      feeds.push_back(tensor::scalar(int32_t{taken_}));
    }
    pending_ = start(*apply_, std::move(feeds));
  }
  lock_of_all lock{of_->mutex};
  auto takes_too_many = [&] { return options_.elastic && required() < taken_; };
  wait_for(lock, [&] { return pending_->has_value() || suspect_ || takes_too_many(); });
  if (pending_->has_value())
    return end_of_step(lock);
  if (!stopped_ && takes_too_many()) { // those that are left begin the step anew
    ready_ = false;
    lock.unlock();
    get_ready({});
  } else if (!stopped_ && std::exchange(suspect_, false)) {
    lock.unlock();
    check_variables();
  }
}

void replicas::state::loop::end_of_step(lock_of_all& lock) {
  auto got = std::move(**pending_);
  pending_.reset();
  if (got) {
    ++label_;
    last_good_ = clock::now();
    first_cause_.reset();
    if (++done_ == options_.last_step)
      stop(training_end::last_step);
    return;
  }
  doubtful_ = label_ + 1; // only the answer may be lost
  if (stopped_)
    return;
  ready_ = false;
  lock.unlock();
  get_ready(error{got.status()});
}

void replicas::state::loop::watch() {
  {
    lock_of_all lock{of_->mutex};
    wait_for(lock, [&] { return suspect_; });
    if (stopped_ || !std::exchange(suspect_, false))
      return;
  }
  check_variables();
}

// A replica has failed: is it for the variables?
void replicas::state::loop::check_variables() {
  std::optional<error> why;
  try {
    if (!lost_state())
      return form_anew();
    why = error{error_kind::aborted, "variables have no values any more"};
  } catch (const error& cause) {
    why = cause;
  }
  {
    lock_of_all lock{of_->mutex};
    ready_ = false;
  }
  get_ready(why);
}

// -- beginning, and going on ----------------------------------------------------------------------

// Until all variables have values and steps may begin, or the run is to end.
void replicas::state::loop::get_ready(std::optional<error> cause) {
  for (int attempts = 0;; ++attempts) {
    if (cause) {
      lock_of_all lock{of_->mutex};
      if (!may_pass_for_replicas(*cause))
        return give_up(std::make_exception_ptr(*cause));
      if (!first_cause_)
        first_cause_ = cause;
      of_->tell({.what = replica_event::kind::retrying, .step = done_, .text = cause->what()});
      pause(lock, attempts);
      check_ends();
      if (stopped_)
        return;
    }
    try {
      drop_pending();
      filled_.run(in_, where_, [&] {
        if ((!began_ && !filled_.follows()) || lost_state() || filled_.is_unended(in_))
          begin();
      });
      open_step();
      if (of_->is_sync() && !apply_)
        apply_ = in_.prepare(options_.elastic ? std::vector{of_->chief.label, of_->chief.required}
                                              : std::vector{of_->chief.label},
                             {}, {of_->chief.apply}, where_);
      lock_of_all lock{of_->mutex};
      ready_ = true;
      suspect_ = false;
      of_->changed.notify_all();
      if (cause)
        of_->tell({.what = replica_event::kind::recovered, .step = done_});
      return;
    } catch (const error& why) {
      cause = why;
    }
  }
}

bool replicas::state::loop::lost_state() {
  auto flags = in_.run({}, of_->chief.initialized, {},
                       {.timeout = in_milliseconds(5 * options_.lost_seconds)}, where_);
  return std::ranges::any_of(flags, [](const tensor& one) { return !*one.data<bool>(); });
}

// Gives all variables their values: those of a checkpoint, or those that they begin with. Steps of
// replicas that are still under way are of the time before: with sync, their gradients are dropped;
// else they are late, as others are.
void replicas::state::loop::begin() {
  std::optional<restore_report> found;
  apply_.reset(); // it was prepared for what may have another place now
  if (saves()) {
    set_begins(true);
    try {
      await_writer();
    } catch (const error& why) { // as after a crash, an older one is there, or none
      lock_of_all lock{of_->mutex};
      warn(done_, why);
    }
    set_begins(false);
    if (options_.resume || saves_ours_) {
      if (options_.partial) // what the checkpoint does not have
        in_.run({}, {}, {of_->chief.initializer},
                {.timeout = in_milliseconds(options_.step_seconds)}, where_);
      found = saver_access::restore(*of_->saves, in_, options_.partial, "replicas_options::partial",
                                    error_kind::invalid_argument, where_);
    }
  }
  if (found)
    of_->tell_differences(*found);
  if (!found)
    in_.run({}, {}, {of_->chief.initializer}, {.timeout = in_milliseconds(options_.step_seconds)},
            where_);
  lock_of_all lock{of_->mutex};
  if (!std::exchange(began_, true) && found)
    restored_from_ = found->step;
  done_ = saved_step_ = found ? found->step : 0;
  // A step of sync has a batch of each replica: of so many at least.
  next_ = of_->is_sync() ? std::max(next_, done_ * options_.workers) : done_;
  given_back_.clear();
  doubtful_ = -1; // its updates are gone
  saved_at_ = clock::now();
  ++beginnings_;
  of_->tell({.what = found ? replica_event::kind::restored : replica_event::kind::initialized,
             .step = done_,
             .text = found ? found->path : ""});
}

// bounded: all of these side by side, and no others, whatever was before. `living` is asked with
// the mutex.
template <class Which>
void replicas::state::loop::open_clock(Which living) {
  const auto& chief = of_->chief;
  const run_options soon{.timeout = control_timeout};
  in_.run({{chief.replica, int64_t{-1}}}, {}, {chief.leave}, soon, where_);
  std::vector<int> all;
  {
    lock_of_all lock{of_->mutex};
    for (auto& [number, one] : replicas_)
      if (!one.ended && !one.leaves && living(one))
        all.push_back(number);
  }
  for (auto number : all) {
    in_.run({{chief.replica, int64_t{number}}}, {}, {chief.join}, soon, where_);
    lock_of_all lock{of_->mutex};
    auto& one = replicas_.at(number);
    if (one.ended || one.leaves) { // its thread may have left the clock before it joined
      lock.unlock();
      in_.run({{chief.replica, int64_t{number}}}, {}, {chief.leave}, soon, where_);
      continue;
    }
    one.is_awaited = true;
    of_->changed.notify_all(); // it leaves again if it has nothing to do
  }
}

// A late step of a former run may have put a replica into the clock that this run does not have:
// nobody drives it, and all wait for it until their steps fail.
void replicas::state::loop::form_anew() {
  {
    lock_of_all lock{of_->mutex};
    if (!std::exchange(stalled_, false))
      return;
  }
  open_clock([](const member& one) { return one.attempts == 0 && one.is_awaited; });
}

// Gradients from before count no more, whatever became of the chief's last step; then replicas may
// begin.
void replicas::state::loop::open_step() {
  const auto& chief = of_->chief;
  const run_options soon{.timeout = control_timeout};
  if (of_->is_bounded())
    open_clock([](const member&) { return true; });
  if (!of_->is_sync())
    return;
  auto opened = to_scalar<int64_t>(
      in_.run({}, {chief.opened}, std::vector<target>{}, soon, where_).front(), where_);
  if (auto label = std::exchange(doubtful_, -1); label >= 0 && label == opened) {
    lock_of_all lock{of_->mutex}; // it was done, and no batch of it is to be computed again
    label_ = label;
    last_good_ = clock::now();
    if (++done_ == options_.last_step)
      return stop(training_end::last_step);
  }
  // A step that failed may have taken from some accumulators, which are one ahead then.
  auto label = std::max(label_, opened) + 2;
  in_.run({{chief.label, label}}, {}, {chief.set_labels}, soon, where_);
  in_.run({}, {}, {chief.clear}, soon, where_);
  {
    lock_of_all lock{of_->mutex};
    label_ = label_base_ = label;
    step_base_ = done_;
  }
  in_.run({{chief.label, label}}, {}, {chief.open}, soon, where_);
}

// The chief's step takes nothing any more.
void replicas::state::loop::drop_pending() {
  if (!pending_)
    return;
  auto ended = [&] {
    lock_of_all lock{of_->mutex};
    return of_->changed.wait_for(lock, end_interval, [&] { return pending_->has_value(); });
  };
  for (auto until = clock::now() + end_patience; !ended() && clock::now() < until;)
    in_.run({}, {}, {of_->chief.clear}, {.timeout = release_timeout}, where_);
  lock_of_all lock{of_->mutex};
  if (pending_->has_value() && **pending_) {
    ++label_;
    ++done_;
  } else {
    doubtful_ = label_ + 1;
  }
  pending_.reset();
}

// -- checkpoints ----------------------------------------------------------------------------------

// With the mutex.
bool replicas::state::loop::save_is_due() const {
  auto by_steps = options_.checkpoint_steps;
  auto by_time = options_.checkpoint_seconds;
  return saves() && ready_ && !stopped_ && done_ > saved_step_ && clock::now() >= save_again_at_ &&
         (is_checkpoint_due(saved_step_, done_, by_steps) ||
          (by_time > 0 && clock::now() >= saved_at_ + in_ticks(by_time)));
}

// With sync, values are read between two steps of the chief: a consistent cut. No step waits for
// the checkpoint before, which takes as long as its disk and the tasks that are asked for it.
void replicas::state::loop::save() {
  auto written = writing_ && !of_->saves->is_writing();
  auto due = false;
  int64_t at = 0;
  {
    lock_of_all lock{of_->mutex};
    at = done_;
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
    of_->saves->save_async(in_, at, where_);
    writing_ = at;
    lock_of_all lock{of_->mutex};
    saved_step_ = at;
  } catch (const error& why) {
    if (saver_access::is_refused(*of_->saves)) // another process has taken the folder over
      throw;
    warn(at, why);
    lock_of_all lock{of_->mutex};
    save_again_at_ = clock::now() + failed_save_interval;
  }
}

void replicas::state::loop::watch_saver() {
  saver_access::watch(*of_->saves,
                      {.begun =
                           [this](int64_t) {
                             lock_of_all lock{of_->mutex};
                             read_until_ = turns_;
                           },
                       .may_be_seen = [this] { return is_sound(); },
                       .saved =
                           [this](int64_t step, const std::string& path) {
                             saves_ours_ = true;
                             of_->tell(
                                 {.what = replica_event::kind::saved, .step = step, .text = path});
                           }});
}

// On the thread that writes: whether the steps that a checkpoint may have something of have ended
// without a loss that is NaN or infinite.
bool replicas::state::loop::is_sound() {
  lock_of_all lock{of_->mutex};
  const auto until = options_.keep.by_tasks ? turns_ : read_until_; // tasks read when they write
  of_->changed.wait(lock, [&] {
    return begins_ || std::ranges::none_of(replicas_, [&](const auto& entry) {
             const auto& replica = entry.second;
             return replica.turn > 0 && replica.turn <= until && replica.attempts == 0 &&
                    !replica.leaves;
           });
  });
  return first_bad_ > until;
}

void replicas::state::loop::set_begins(bool begins) {
  lock_of_all lock{of_->mutex};
  begins_ = begins;
  of_->changed.notify_all();
}

void replicas::state::loop::warn(int64_t step, const error& why) {
  of_->tell({.what = replica_event::kind::warning, .step = step, .text = why.what()});
}

void replicas::state::loop::await_writer() {
  if (!writing_)
    return;
  writing_.reset();
  of_->saves->wait(where_);
}

replicas_report replicas::state::loop::finish() {
  replicas_report made{.step = done_, .why = why_, .loss = loss_, .restored_from = restored_from_};
  for (const auto& [number, one] : replicas_) {
    made.replicas.resize(static_cast<size_t>(number) + 1);
    made.replicas.back() = one.counts;
  }
  if (!saves())
    return made;
  try {
    await_writer();
  } catch (const error& why) { // which does not cost the last one
    saved_step_ = -1;
    warn(done_, why);
  }
  if (why_ == training_end::not_a_number || !ready_ ||
      (done_ == saved_step_ && (saves_ours_ || restored_from_ >= 0))) {
    made.checkpoint = of_->newest();
    return made;
  }
  {
    lock_of_all lock{of_->mutex};
    read_until_ = turns_;
  }
  made.checkpoint = of_->saves->save(in_, done_, where_);
  return made;
}

} // namespace troupe
