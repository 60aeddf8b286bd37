#include "troupe/api/train/replicas_copies_loop.hpp"

#include "troupe/api/ops.hpp"
#include "troupe/runtime/device/device_name.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace troupe {

constexpr const char* next_batch_key = "next_batch"; // of a checkpoint's notes

replicas::state::copies_loop::copies_loop(std::shared_ptr<state> of, session& in, location where)
    : of_(std::move(of)), options_(of_->options), in_(in), where_(where),
      copies_(of_->copies.back()) {
  if (options_.batch)
    batches_.emplace(options_.batch, std::min(copies_->devices().size(), most_batch_threads));
}

replicas_report replicas::state::copies_loop::run() {
  {
    std::jthread looks;
    if (options_.ps_tasks > 0)
      looks = std::jthread{[this] { look(); }};
    std::exception_ptr problem;
    try {
      while (going_on()) {
        if (set_.empty())
          form();
        else
          take_step();
        save();
      }
    } catch (...) {
      problem = std::current_exception();
    }
    {
      std::lock_guard guard{of_->mutex};
      ends_ = true;
      of_->changed.notify_all();
    }
    if (looks.joinable())
      looks.join();
    if (problem) {
      try {
        await_writer();
      } catch (...) { // there is an earlier error to tell
      }
      std::rethrow_exception(problem);
    }
  }
  return finish();
}

// -- steps ----------------------------------------------------------------------------------------

bool replicas::state::copies_loop::going_on() {
  auto now = clock::now();
  std::lock_guard guard{of_->mutex};
  if (of_->asked)
    stop(training_end::asked);
  else if (options_.last_step >= 0 && done_ >= options_.last_step)
    stop(training_end::last_step);
  else if (options_.time_limit > 0 && now >= begin_ + in_ticks(options_.time_limit))
    stop(training_end::time_over);
  else if (now >= last_good_ + in_ticks(options_.give_up_seconds))
    throw without_progress();
  if (std::exchange(news_, false)) // between two steps
    set_.clear();
  return !stopped_;
}

void replicas::state::copies_loop::stop(training_end why) {
  if (!std::exchange(stopped_, true))
    why_ = why;
}

error replicas::state::copies_loop::without_progress() const {
  auto text = concat("no step has ended well for ", options_.give_up_seconds, " s");
  if (first_cause_)
    text += concat("; the first cause: ", first_cause_->what());
  return error{first_cause_ ? first_cause_->kind() : error_kind::deadline_exceeded, text};
}

void replicas::state::copies_loop::take_step() {
  auto feeds = next_feeds();
  if (!feeds)
    return stop(training_end::data_ended);
  auto began = clock::now();
  auto got = run_step(*std::move(feeds));
  if (!got) { // the run is to end, and this takes too long
    left_ = true;
    return stop(training_end::asked);
  }
  if (*got) {
    auto& longest = is_first_step_ ? longest_.first_step : longest_.step;
    longest = std::max(longest, clock::now() - began);
    is_first_step_ = false;
    return note(number_in((*got)->front()));
  }
  if (got->status().kind() == error_kind::out_of_range)
    return stop(training_end::data_ended);
  failed(error{got->status()});
}

// Of a batch for each of the set; nothing at the end of the data.
std::optional<std::vector<tensor>> replicas::state::copies_loop::next_feeds() {
  std::vector<tensor> feeds;
  if (!batches_)
    return feeds;
  const auto count = std::ssize(set_);
  batches_->ask(next_, count);
  for (auto n = next_; n < next_ + count; ++n) {
    const auto& batch = batches_->get(n);
    if (!batch)
      return std::nullopt;
    feeds.insert(feeds.end(), batch->begin(), batch->end());
  }
  return feeds;
}

// A worker may be lost without a sign: it is frozen, or its process ended just before a step, which
// then waits for it to be back. So what takes much longer than it ever has is over. Where that was
// wrong, nothing is known of how long it takes any more.
std::chrono::milliseconds replicas::state::copies_loop::patience(clock::duration longest) const {
  if (longest == clock::duration{})
    return in_milliseconds(options_.step_seconds);
  return in_milliseconds(
      std::min(options_.step_seconds, options_.lost_seconds + 10 * seconds{longest}.count()));
}

// Nothing where the run is to end, and the step does not.
replicas::state::copies_loop::outcome
replicas::state::copies_loop::run_step(std::vector<tensor> feeds) {
  auto into = std::make_shared<outcome>();
  prepared_->run_async(
      std::move(feeds),
      [of = of_, into](result<std::vector<tensor>> got) {
        std::lock_guard guard{of->mutex};
        *into = std::move(got);
        of->changed.notify_all();
      },
      {.timeout = patience(is_first_step_ ? longest_.first_step : longest_.step)}, where_);
  if (batches_)
    batches_->ask(next_ + std::ssize(set_), std::ssize(set_));
  std::unique_lock lock{of_->mutex};
  of_->changed.wait(lock, [&] { return into->has_value() || of_->asked; });
  of_->changed.wait_for(lock, end_patience, [&] { return into->has_value(); });
  return *into;
}

// A step has ended well.
void replicas::state::copies_loop::note(double loss) {
  ++done_;
  ++steps_;
  next_ += static_cast<int64_t>(set_.size());
  loss_ = loss;
  for (auto one : set_)
    ++counts_[one].steps;
  last_good_ = clock::now();
  if (std::exchange(attempts_, 0) > 0)
    of_->tell({.what = replica_event::kind::recovered, .step = done_});
  first_cause_.reset();
  training_progress news{.step = done_,
                         .loss = loss,
                         .replica = source_,
                         .steps_per_second = static_cast<double>(steps_) /
                                             std::max(seconds{last_good_ - begin_}.count(), 1e-9)};
  if (options_.stop_at_nan && std::isnan(loss))
    stop(training_end::not_a_number);
  else if (options_.when && options_.when(news))
    stop(training_end::condition);
  for (auto one : set_) {
    news.replica = one;
    if (options_.on_step)
      options_.on_step(news);
  }
}

// The set is formed anew, at once the first time: finding out who lives takes its time, too.
void replicas::state::copies_loop::failed(const error& why) {
  if (!may_pass_for_replicas(why, options_.elastic))
    throw why;
  for (auto one : set_)
    ++counts_[one].failures;
  if (!set_.empty())
    in_doubt_ = std::ssize(set_);
  set_.clear();
  was_late_ |= why.kind() == error_kind::deadline_exceeded;
  if (!first_cause_)
    first_cause_ = why;
  of_->tell({.what = replica_event::kind::retrying, .step = done_, .text = why.what()});
  if (attempts_++ == 0)
    return;
  std::unique_lock lock{of_->mutex};
  of_->changed.wait_for(lock, retry_pause(options_.retry_seconds, attempts_),
                        [&] { return of_->asked; });
}

// -- the set --------------------------------------------------------------------------------------

// Those that live agree that they do, and get the variables of one that has kept them. Where none
// has, one begins with those of a checkpoint, or anew.
void replicas::state::copies_loop::form() {
  try {
    await_writer(); // the graph may grow, and where tasks write, that is a step of it
  } catch (const error& why) {
    warn(why);
  }
  prepared_.reset();
  try {
    if (options_.elastic)
      grow();
    auto living = agree();
    // Not all that have kept what they have got have got it whole: a step that was to give it to
    // them may have failed.
    std::erase_if(filled_, [&](const std::string& one) {
      auto end = living.devices.begin() + static_cast<ptrdiff_t>(living.kept);
      return std::find(living.devices.begin(), end, one) == end;
    });
    std::ranges::stable_partition(living.devices,
                                  [&](const auto& one) { return filled_.contains(one); });
    note_set(living);
    const auto source = copies_->on(living.devices.front());
    auto step = copies_->among(living.devices);
    const run_options soon{.timeout = patience(longest_.giving)};
    auto began = clock::now();
    in_.fill(
        [&](session&) {
          if (filled_.empty())
            begin(source);
          in_.run({}, {}, {step.synchronize}, soon, where_);
        },
        where_);
    filled_ = {living.devices.begin(), living.devices.end()};
    // Of a step that failed, only the answer may be lost.
    auto counted = to_scalar<int64_t>(
        in_.run({}, {copies_->counter(source)}, std::vector<target>{}, soon, where_).front(),
        where_);
    longest_.giving = std::max(longest_.giving, clock::now() - began);
    auto in_doubt = std::exchange(in_doubt_, 0);
    if (counted == done_ + 1)
      next_ += in_doubt;
    done_ = counted;
    std::vector<size_t> set;
    for (const auto& one : living.devices)
      set.push_back(copies_->on(one));
    std::ranges::sort(set);
    std::vector<edge> feeds;
    for (auto one : set)
      for (const auto& feed : copies_->ends(one).feeds)
        feeds.push_back(feed);
    prepared_ = in_.prepare(feeds, {step.loss}, {target{step.train}}, where_);
    is_first_step_ = true;
    source_ = source;
    set_ = std::move(set);
  } catch (const error& why) {
    failed(why);
  }
}

live_set replicas::state::copies_loop::agree() {
  if (options_.ps_tasks == 0) {
    live_set all{.devices = copies_->devices()};
    all.kept = began_ ? all.devices.size() : 0;
    return all;
  }
  std::vector<std::string> fresh;
  auto there = options_.elastic ? workers_there() : std::set<int>{};
  for (size_t i = 0; i < copies_->devices().size(); ++i) {
    const auto& one = copies_->devices()[i];
    if ((!options_.elastic || there.contains(worker_of(i))) && asked_.insert(one).second)
      fresh.push_back(one);
  }
  if (!tasks_ && fresh.empty())
    throw error{
        failure(error_kind::unavailable, "no task of the job ", options_.worker_job, " is there")};
  if (!tasks_)
    tasks_.emplace(fresh,
                   living_tasks_options{.patience = in_milliseconds(options_.lost_seconds),
                                        .at_least = static_cast<size_t>(options_.least_workers)},
                   where_);
  else if (!fresh.empty())
    tasks_->also(fresh, where_);
  return tasks_->agree(in_, where_);
}

// elastic: a graph that has all workers that there are.
void replicas::state::copies_loop::grow() {
  auto there = workers_there();
  if (there.empty() || *there.rbegin() < copies_->workers())
    return;
  auto grown = of_->build_copies(*there.rbegin() + 1);
  copies_ = grown;
  std::lock_guard guard{of_->mutex};
  of_->copies.push_back(std::move(grown));
}

// Tells who comes and goes, and has those looked for that are not there.
void replicas::state::copies_loop::note_set(const live_set& now) {
  std::set<size_t> here;
  for (const auto& one : now.devices)
    here.insert(copies_->on(one));
  if (std::exchange(was_late_, false) && std::ranges::equal(here, before_))
    longest_ = {}; // it was only slow
  counts_.resize(std::max(counts_.size(), *here.rbegin() + 1));
  auto there = options_.elastic ? workers_there() : std::set<int>{};
  using kind = replica_event::kind;
  auto tell = [&](kind what, size_t replica) {
    of_->tell({.what = what,
               .step = done_,
               .replica = static_cast<int>(replica),
               .text = what == kind::lost && first_cause_ ? first_cause_->what() : ""});
  };
  for (auto one : before_)
    if (!here.contains(one) && gone_.insert(one).second)
      tell(options_.elastic && !there.contains(worker_of(one)) ? kind::left : kind::lost, one);
  if (options_.elastic)
    std::erase_if(gone_, [&](size_t one) {
      auto left = !there.contains(worker_of(one));
      if (left && std::ranges::find(before_, one) == before_.end())
        tell(kind::left, one); // that it was lost has been told
      return left;
    });
  for (auto one : here)
    if (gone_.erase(one) > 0)
      tell(kind::back, one);
    else if (options_.elastic && std::ranges::find(before_, one) == before_.end())
      tell(kind::joined, one);
  std::lock_guard guard{of_->mutex};
  auto grew = std::ranges::any_of(
      here, [&](auto one) { return std::ranges::find(before_, one) == before_.end(); });
  look_every_ = grew || looked_for_.empty() ? look_interval
                                            : std::min(look_every_ * 2, longest_look_interval);
  looked_for_.clear();
  ++times_formed_;
  if (!options_.elastic)
    for (int i = 0; i < options_.workers; ++i)
      there.insert(i);
  for (auto worker : there)
    if (!here.contains(static_cast<size_t>(worker * copies_of_worker())))
      looked_for_.insert(worker);
  before_ = {here.begin(), here.end()};
  of_->changed.notify_all();
}

// Gives one replica the values that a run begins with.
void replicas::state::copies_loop::begin(size_t source) {
  std::optional<restore_report> found;
  if (saves() && (options_.resume || saves_ours_))
    found = saves_of(source).restore(in_, where_);
  if (!found)
    in_.run({}, {}, {copies_->initializer(source)},
            {.timeout = in_milliseconds(options_.step_seconds)}, where_);
  if (!std::exchange(began_, true) && found)
    restored_from_ = found->step;
  done_ = saved_step_ = found ? found->step : 0;
  next_ = done_ * options_.workers * copies_of_worker();
  if (found)
    if (auto note = found->notes.find(next_batch_key); note != found->notes.end())
      std::from_chars(note->second.data(), note->second.data() + note->second.size(), next_);
  in_doubt_ = 0; // what that step has changed is gone
  saved_at_ = clock::now();
  of_->tell({.what = found ? replica_event::kind::restored : replica_event::kind::initialized,
             .step = done_,
             .text = found ? found->path : ""});
}

std::set<int> replicas::state::copies_loop::workers_there() {
  std::set<int> found;
  for (const auto& task : in_.tasks(where_))
    if (auto name = device_name::parse(task);
        name && name->job == options_.worker_job && name->task < replicas_limit)
      found.insert(name->task);
  return found;
}

int replicas::state::copies_loop::worker_of(size_t replica) const {
  return static_cast<int>(replica) / copies_of_worker();
}

// -- who comes ------------------------------------------------------------------------------------

void replicas::state::copies_loop::look() {
  std::unique_lock lock{of_->mutex};
  while (!ends_) {
    of_->changed.wait_for(lock, look_every_, [&] { return ends_; });
    if (ends_ || news_)
      continue;
    auto formed = times_formed_;
    lock.unlock();
    auto found = is_news();
    lock.lock();
    news_ |= found && formed == times_formed_; // or it may be known by now
  }
}

// Whether a worker that does not take part answers, or elastic: is new.
bool replicas::state::copies_loop::is_news() {
  std::set<int> wanted;
  int known = 0;
  {
    std::lock_guard guard{of_->mutex};
    wanted = looked_for_;
    known = of_->copies.back()->workers();
  }
  try {
    auto there = workers_there();
    if (options_.elastic && !there.empty() && *there.rbegin() >= known)
      return true;
    for (auto worker : wanted) {
      if (!there.contains(worker)) {
        if (options_.elastic)
          return true; // it has left
        continue;
      }
      graph_builder g;
      auto on = g.on(concat("/job:", options_.worker_job, "/task:", worker), where_);
      auto* probe = no_op(g, "probe", where_);
      try {
        in_.run({}, {}, {probe}, {.timeout = in_milliseconds(options_.lost_seconds)}, where_);
        return true;
      } catch (const error&) { // not yet
      }
      std::lock_guard guard{of_->mutex};
      if (ends_)
        return false;
    }
  } catch (const error&) { // the tasks are those that were there
  }
  return false;
}

// -- checkpoints ----------------------------------------------------------------------------------

bool replicas::state::copies_loop::save_is_due() const {
  auto by_steps = options_.checkpoint_steps;
  auto by_time = options_.checkpoint_seconds;
  return saves() && !set_.empty() && !stopped_ && done_ > saved_step_ &&
         clock::now() >= save_again_at_ &&
         ((by_steps > 0 && done_ - saved_step_ >= by_steps) ||
          (by_time > 0 && clock::now() >= saved_at_ + in_ticks(by_time)));
}

saver& replicas::state::copies_loop::saves_of(size_t replica) {
  auto keep = options_.keep;
  keep.on_warning = [of = of_.get()](const std::string& text) { of->warn_of_saving(text); };
  auto& made = copies_->saver_of(replica, keep);
  made.limit_steps(in_milliseconds(options_.step_seconds));
  made.also_note([this] {
    return std::map<std::string, std::string>{{next_batch_key, concat(next_)}};
  });
  return made;
}

// Values are read between two steps: a consistent cut. No step waits for the checkpoint before.
void replicas::state::copies_loop::save() {
  if (writes_ && !writes_->is_writing()) {
    try {
      await_writer();
    } catch (const error& why) {
      warn(why);
      save_again_at_ = clock::now() + failed_save_interval;
    }
  }
  if (writes_ || !save_is_due())
    return;
  try {
    saved_at_ = clock::now();
    auto& by = saves_of(source_);
    by.limit_steps(patience(longest_.reading));
    by.save_async(in_, done_, where_);
    longest_.reading = std::max(longest_.reading, clock::now() - saved_at_);
    writes_ = &by;
    writing_ = saved_step_ = done_;
  } catch (const error& why) {
    warn(why);
    save_again_at_ = clock::now() + failed_save_interval;
  }
}

void replicas::state::copies_loop::await_writer() {
  if (!writes_)
    return;
  auto* by = std::exchange(writes_, nullptr);
  by->wait(where_);
  saves_ours_ = true;
  of_->tell({.what = replica_event::kind::saved, .step = writing_, .text = of_->newest()});
}

void replicas::state::copies_loop::warn(const error& why) {
  of_->tell({.what = replica_event::kind::warning, .step = done_, .text = why.what()});
}

replicas_report replicas::state::copies_loop::finish() {
  replicas_report made{.step = done_,
                       .why = why_,
                       .loss = loss_,
                       .restored_from = restored_from_,
                       .replicas = counts_};
  if (!saves())
    return made;
  try {
    await_writer();
  } catch (const error& why) { // which does not cost the last one
    saved_step_ = -1;
    warn(why);
  }
  if (why_ == training_end::not_a_number || set_.empty() || left_ ||
      (done_ == saved_step_ && (saves_ours_ || restored_from_ >= 0))) {
    made.checkpoint = of_->newest();
    return made;
  }
  made.checkpoint = saves_of(source_).save(in_, done_, where_);
  of_->tell({.what = replica_event::kind::saved, .step = done_, .text = made.checkpoint});
  return made;
}

} // namespace troupe
