#include "troupe/api/train/loop/replicas_loop.hpp"

#include "troupe/api/internal/retries.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace troupe {

replicas::state::loop::loop(std::shared_ptr<state> of, session& in, location where)
    : of_(std::move(of)), options_(of_->options), in_(in), where_(where) {}

replicas_report replicas::state::loop::run() {
  if (saves())
    watch_saver();
  {
    std::jthread follows;
    try {
      if (options_.elastic)
        follows = std::jthread{[this] { follow_tasks(); }};
      else
        for (int i = 0; i < options_.workers; ++i)
          add(i);
      lead();
    } catch (...) {
      lock_of_all lock{of_->mutex};
      give_up(std::current_exception());
    }
  } // no replica begins any more
  end_steps();
  for (auto& [number, one] : replicas_)
    if (one.thread.joinable())
      one.thread.join();
  if (problem_) {
    try {
      await_writer();
    } catch (...) { // there is an earlier error to tell
    }
    std::rethrow_exception(problem_);
  }
  return finish();
}

// -- replicas -------------------------------------------------------------------------------------

void replicas::state::loop::work(member& mine) {
  while (await_turn(mine)) {
    try {
      run_step(mine);
    } catch (const error& why) {
      failed(mine, why);
    } catch (...) {
      lock_of_all lock{of_->mutex};
      give_up(std::current_exception());
    }
    end_turn(mine);
  }
  lock_of_all lock{of_->mutex};
  if (mine.leaves) {
    give_back(mine);
    if (of_->is_bounded())
      leave(lock, mine);
  }
  mine.ended = true;
  of_->changed.notify_all();
}

// Until there is something to do. False at the end.
bool replicas::state::loop::await_turn(member& mine) {
  lock_of_all lock{of_->mutex};
  for (;;) {
    of_->changed.wait(lock, [&] {
      return stopped_ || mine.leaves || may_begin() || (ready_ && mine.is_awaited);
    });
    if (stopped_ || mine.leaves)
      return false;
    if (may_begin())
      return true;
    leave(lock, mine); // others must not wait for it; the chief may put it into the clock again
  }
}

// With the mutex.
bool replicas::state::loop::may_begin() const {
  return ready_ && (of_->is_sync() || options_.last_step < 0 || next_ < options_.last_step ||
                    !given_back_.empty());
}

// Its next batch. False where another replica was quicker, or the run is to end.
bool replicas::state::loop::take(member& mine) {
  lock_of_all lock{of_->mutex};
  if (stopped_ || !may_begin())
    return false;
  mine.given_back = -1;
  mine.beginning = beginnings_;
  if (of_->is_sync() && mine.label < label_base_)
    mine.label = label_;
  if (!of_->hands_out()) {
    mine.batch = step_of(mine.label) * options_.workers + mine.number;
  } else if (!given_back_.empty()) {
    mine.batch = given_back_.extract(given_back_.begin()).value();
  } else {
    mine.batch = next_++;
  }
  return true;
}

// With the mutex. Whoever is ready computes it instead: this one may never be back.
void replicas::state::loop::give_back(member& mine) {
  auto batch = std::exchange(mine.batch, -1);
  if (!of_->hands_out() || batch < 0 || mine.beginning != beginnings_)
    return;
  given_back_.insert(batch);
  mine.given_back = batch;
  of_->changed.notify_all();
}

// With the mutex. Whether a step that ended well counts; one that was slow may end after another
// replica has computed its batch, and moved the variables once more.
bool replicas::state::loop::is_counted(member& mine) {
  if (mine.beginning != beginnings_)
    return false;
  if (mine.given_back >= 0)
    given_back_.erase(mine.given_back);
  return options_.last_step < 0 || done_ < options_.last_step;
}

void replicas::state::loop::run_step(member& mine) {
  if (!mine.prepared || mine.attempts > 0) // else one would wait for a task that is not there
    ask(mine);
  if (!mine.prepared && !prepare(mine))
    return;
  if (!take(mine))
    return;
  std::vector<tensor> feeds;
  if (options_.batch) {
    auto batch = options_.batch(mine.batch);
    if (!batch) {
      lock_of_all lock{of_->mutex};
      return stop(training_end::data_ended);
    }
    feeds = *std::move(batch);
  }
  if (of_->is_sync())
    feeds.push_back(tensor::scalar(mine.label));
  begin_turn(mine);
  if (auto fetched = await(mine, *start(*mine.prepared, std::move(feeds))))
    note(mine, number_in(fetched->front()), *fetched);
}

bool replicas::state::loop::prepare(member& mine) {
  const auto& of = *mine.of;
  auto feeds = of.ends.feeds;
  std::vector<edge> fetches{of.ends.loss};
  if (of.label)
    feeds.push_back(of.label);
  if (of.next)
    fetches.push_back(of.next);
  std::vector<target> targets;
  if (of.train)
    targets.emplace_back(of.train);
  if (of.prepare) {
    auto first = in_.prepare({}, {}, {of.prepare}, where_);
    if (!await(mine, *start(first, {})))
      return false;
  }
  mine.prepared = in_.prepare(feeds, fetches, targets, where_);
  return true;
}

// A step of a replica has ended well.
void replicas::state::loop::note(member& mine, double loss, const std::vector<tensor>& fetched) {
  training_progress news{.loss = loss, .replica = static_cast<size_t>(mine.number)};
  {
    lock_of_all lock{of_->mutex};
    auto next = of_->is_sync() ? to_scalar<int64_t>(fetched.back(), where_) : 0;
    if (stopped_ && next > mine.label + 1 && of_->is_sync())
      return; // let go at the end: no step of all has taken its gradients
    auto now = clock::now();
    auto is_bad = options_.stop_at_nan && !std::isfinite(loss);
    if (is_bad)
      first_bad_ = std::min(first_bad_, mine.turn);
    mine.turn = 0;
    of_->changed.notify_all(); // a checkpoint may wait for it
    if (!is_bad && why_ != training_end::not_a_number)
      loss_ = loss;
    ++count_;
    ++mine.counts.steps;
    mine.batch = -1;
    mine.is_in_step = !mine.leaves;
    mine.is_awaited = of_->is_bounded(); // its tick has joined it
    if (std::exchange(mine.attempts, 0) > 0)
      of_->tell({.what = replica_event::kind::back, .step = done_, .replica = mine.number});
    auto speed = static_cast<double>(count_) / std::max(seconds{now - begin_}.count(), 1e-9);
    if (of_->is_sync()) {
      if (mine.given_back >= 0)
        given_back_.erase(mine.given_back);
      news.step = std::max(step_of(mine.label) + 1, done_); // it may come late
      news.steps_per_second = speed / std::max(in_step(), 1);
      mine.label = next;
    } else {
      if (is_counted(mine) && ++done_ == options_.last_step)
        stop(training_end::last_step);
      news.step = done_;
      news.steps_per_second = speed;
      last_good_ = now;
      first_cause_.reset();
    }
    if (is_bad && std::exchange(why_, training_end::not_a_number) != training_end::not_a_number) {
      loss_ = loss; // whatever else the run was about to end for: its values must not be saved
      stop(training_end::not_a_number);
    } else if (!stopped_ && options_.when && options_.when(news))
      stop(training_end::condition);
    if (!of_->is_sync() && save_is_due())
      of_->changed.notify_all();
  }
  if (!options_.on_step)
    return;
  try {
    options_.on_step(news);
  } catch (...) { // which is no failure of the replica
    lock_of_all lock{of_->mutex};
    give_up(std::current_exception());
  }
}

// From here on, a checkpoint may have something of the step.
void replicas::state::loop::begin_turn(member& mine) {
  lock_of_all lock{of_->mutex};
  mine.turn = ++turns_;
}

void replicas::state::loop::end_turn(member& mine) {
  lock_of_all lock{of_->mutex};
  if (std::exchange(mine.turn, 0) > 0)
    of_->changed.notify_all();
}

// It tries again after a while, and the others go on.
void replicas::state::loop::failed(member& mine, const error& why) {
  lock_of_all lock{of_->mutex};
  ++mine.counts.failures;
  mine.label = -1;
  if (stopped_)
    return;
  if (why.kind() == error_kind::out_of_range)
    return stop(training_end::data_ended);
  if (!may_pass_for_replicas(why, options_.elastic))
    return give_up(std::make_exception_ptr(why));
  // Else a step that is kept is registered again, without a thread that waits for its task.
  if (why.kind() == error_kind::aborted || why.kind() == error_kind::failed_precondition)
    mine.prepared.reset();
  suspect_ = true;
  stalled_ |= of_->is_bounded() && why.kind() == error_kind::deadline_exceeded;
  of_->changed.notify_all();
  auto attempts = mine.attempts;
  lose(lock, mine, why);
  pause(lock, attempts, &mine);
}

// With bounded, the others no longer wait for it; with async, too, its batch is anybody's.
void replicas::state::loop::lose(lock_of_all& lock, member& mine, const error& why) {
  if (mine.attempts++ == 0)
    of_->tell({.what = replica_event::kind::lost,
               .step = done_,
               .replica = mine.number,
               .text = why.what()});
  if (!first_cause_)
    first_cause_ = why;
  mine.is_in_step = false;
  of_->changed.notify_all(); // a step of sync may wait for it
  give_back(mine);
  if (of_->is_bounded())
    leave(lock, mine);
}

// With the mutex: how many replicas give gradients, as far as is known.
int replicas::state::loop::in_step() const {
  return static_cast<int>(
      std::ranges::count_if(replicas_, [](const auto& entry) { return entry.second.is_in_step; }));
}

// With the mutex: how many gradients a step of sync takes.
int replicas::state::loop::required() const {
  auto least = options_.workers - options_.backups;
  return options_.elastic ? std::max(in_step() - options_.backups, least) : least;
}

// Throws unless its task answers.
void replicas::state::loop::ask(const member& mine) {
  if (auto* probe = mine.of->probe)
    in_.run({}, {}, {probe}, {.timeout = in_milliseconds(options_.lost_seconds)}, where_);
}

// The others no longer wait for it. If that cannot be said now, it is at the next failure.
void replicas::state::loop::leave(lock_of_all& lock, member& mine) {
  mine.is_awaited = false;
  lock.unlock();
  try {
    in_.run({{of_->chief.replica, int64_t{mine.number}}}, {}, {of_->chief.leave},
            {.timeout = control_timeout}, where_);
  } catch (const error&) {
  }
  lock.lock();
}

// -- both -----------------------------------------------------------------------------------------

// Begins a step that the caller may stop to wait for.
std::shared_ptr<replicas::state::loop::outcome>
replicas::state::loop::start(step& what, std::vector<tensor> feeds) {
  auto into = std::make_shared<outcome>();
  what.run_async(
      std::move(feeds),
      [of = of_, into](result<std::vector<tensor>> got) {
        std::lock_guard guard{of->mutex};
        *into = std::move(got);
        of->changed.notify_all();
      },
      {.timeout = in_milliseconds(options_.step_seconds)}, where_);
  return into;
}

// Nothing for a frozen task's step at the end of the run: it is left behind.
std::optional<std::vector<tensor>> replicas::state::loop::await(member& mine, const outcome& what) {
  lock_of_all lock{of_->mutex};
  auto ended = [&] { return what.has_value() || left_ || mine.leaves; };
  for (auto pause = quiet; !of_->changed.wait_for(lock, pause, ended);) {
    if (stopped_)
      continue;
    // A step that is asked for when its task has just gone waits until the task is back.
    std::optional<error> silent;
    lock.unlock();
    try {
      ask(mine);
    } catch (const error& why) {
      silent = why;
    }
    lock.lock();
    if (silent && !ended() && !stopped_)
      lose(lock, mine, *silent);
    pause = std::min(pause * 2, longest_quiet);
  }
  if (!what.has_value())
    return std::nullopt;
  return value_or_throw(*what);
}

void replicas::state::loop::pause(lock_of_all& lock, int attempts, const member* of) {
  of_->changed.wait_for(lock, retry_pause(options_.retry_seconds, attempts),
                        [&] { return stopped_ || of_->asked || (of && of->leaves); });
}

void replicas::state::loop::stop(training_end why) {
  if (!std::exchange(stopped_, true))
    why_ = why;
  of_->changed.notify_all();
}

void replicas::state::loop::give_up(std::exception_ptr why) {
  if (!problem_)
    problem_ = std::move(why);
  stopped_ = true;
  of_->changed.notify_all();
}

// Who has failed last waits for a task that may never come back: no need to wait with it.
bool replicas::state::loop::all_ended() const {
  return std::ranges::all_of(
      replicas_, [](const auto& entry) { return entry.second.ended || entry.second.attempts > 0; });
}

// Lets the steps that are under way end: those of replicas, which may wait for each other or for
// the chief, and then the chief's, which waits for them.
void replicas::state::loop::end_steps() {
  for (auto until = clock::now() + end_patience;;) {
    {
      lock_of_all lock{of_->mutex};
      of_->changed.wait_for(lock, end_interval, [&] { return all_ended(); });
      if (all_ended() || clock::now() >= until) {
        left_ = true;
        of_->changed.notify_all();
        break;
      }
    }
    release();
  }
  try {
    drop_pending();
  } catch (const error&) { // it is over when its time is
  }
}

// Replicas go on to the ends of their steps.
void replicas::state::loop::release() {
  try {
    if (of_->is_sync())
      in_.run({{of_->chief.label, ++label_ + 1}}, {}, {of_->chief.open},
              {.timeout = release_timeout}, where_);
    else if (of_->is_bounded())
      for (const auto& [number, one] : replicas_)
        in_.run({{of_->chief.replica, int64_t{number}}}, {}, {of_->chief.leave},
                {.timeout = release_timeout}, where_);
  } catch (const error&) { // where ps tasks are gone, steps of replicas fail, too
  }
}

} // namespace troupe
