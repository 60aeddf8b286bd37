#include "troupe/api/train/loop/replicas_copies_loop.hpp"

#include "troupe/api/internal/retries.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

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
  if (stopped_)
    return false;
  if (of_->asked)
    stop(training_end::asked);
  else if (options_.last_step >= 0 && done_ >= options_.last_step)
    stop(training_end::last_step);
  else if (options_.time_limit > 0 && now >= begin_ + in_ticks(options_.time_limit))
    stop(training_end::time_over);
  else if (now >= last_good_ + in_ticks(options_.give_up_seconds))
    throw without_progress();
  if (!stopped_ && std::exchange(news_, false)) { // between two steps
    set_.clear();
    forms_for_news_ = true;
  }
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
    learn(is_first_step_ ? usual_.first_step : usual_.step, began);
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
// then waits for it to be back. So what takes ten times as long as usual is over. Where that was
// wrong, nothing is known of how long it takes any more.
std::chrono::milliseconds replicas::state::copies_loop::patience(seconds usual) const {
  if (usual == seconds{})
    return in_milliseconds(options_.step_seconds);
  return in_milliseconds(
      std::min(options_.step_seconds, options_.lost_seconds + 10 * usual.count()));
}

void replicas::state::copies_loop::learn(seconds& usual, clock::time_point since) {
  constexpr double weight = 1.0 / 16;
  seconds took = clock::now() - since;
  usual = usual == seconds{} ? took : usual + weight * (took - usual);
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
      {.timeout = patience(is_first_step_ ? usual_.first_step : usual_.step)}, where_);
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
  if (options_.stop_at_nan && !std::isfinite(loss))
    stop(training_end::not_a_number);
  else if (options_.when && options_.when(news))
    stop(training_end::condition);
  for (auto one : set_) {
    news.replica = one;
    if (options_.on_step)
      options_.on_step(news);
  }
  last_good_ = clock::now(); // that may take long
}

// The set is formed anew, at once the first time: finding out who lives takes its time, too.
void replicas::state::copies_loop::failed(const error& why) {
  // A task may have left, in a cluster whose tasks change: the others are a smaller set.
  if (!may_pass_for_replicas(why, true))
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
                        [&] { return of_->asked || news_; });
}

// -- checkpoints ----------------------------------------------------------------------------------

bool replicas::state::copies_loop::save_is_due() const {
  auto by_steps = options_.checkpoint_steps;
  auto by_time = options_.checkpoint_seconds;
  // Not before the first step of a set: a save may wait for who has just fallen silent.
  return saves() && !set_.empty() && !is_first_step_ && !stopped_ && done_ > saved_step_ &&
         clock::now() >= save_again_at_ &&
         (is_checkpoint_due(saved_step_, done_, by_steps) ||
          (by_time > 0 && clock::now() >= saved_at_ + in_ticks(by_time)));
}

saver& replicas::state::copies_loop::saves_of(size_t replica) {
  auto keep = options_.keep;
  keep.on_warning = [of = of_.get()](const std::string& text) { of->warn_of_saving(text); };
  auto& made = copies_->saver_of(replica, keep);
  saver_access::use_lock(made, of_->lock);
  saver_access::watch(made, {.saved = [this](int64_t step, const std::string& path) {
                        saves_ours_ = true;
                        of_->tell({.what = replica_event::kind::saved, .step = step, .text = path});
                      }});
  made.limit_steps(in_milliseconds(options_.step_seconds));
  made.also_note([this] {
    return std::map<std::string, std::string>{{next_batch_key, concat(next_)}};
  });
  return made;
}

// Values are read between two steps: a consistent cut. No step waits for the checkpoint before.
void replicas::state::copies_loop::save() {
  if (writes_ && !writes_->is_writing())
    settle_writer();
  if (writes_ || !save_is_due())
    return;
  try {
    saved_at_ = clock::now();
    auto& by = saves_of(source_);
    by.limit_steps(patience(usual_.reading));
    by.save_async(in_, done_, where_);
    learn(usual_.reading, saved_at_);
    writes_ = &by;
    saved_step_ = done_;
    if (options_.keep.by_tasks) // they read in a step of their own: the next may not begin before
      settle_writer();
  } catch (const error& why) {
    if (saver_access::is_refused(saves_of(source_))) // another process has taken the folder over
      throw;
    if (why.kind() == error_kind::deadline_exceeded)
      usual_.reading = {}; // it may take longer than it did
    warn(why);
    save_again_at_ = clock::now() + failed_save_interval;
  }
}

// The same as await_writer(), where a checkpoint that was not written is to be tried again.
void replicas::state::copies_loop::settle_writer() {
  const auto* by = writes_;
  try {
    await_writer();
  } catch (const error& why) {
    if (by && saver_access::is_refused(*by))
      throw;
    warn(why);
    saved_step_ = -1;
    save_again_at_ = clock::now() + failed_save_interval;
  }
}

void replicas::state::copies_loop::await_writer() {
  if (!writes_)
    return;
  std::exchange(writes_, nullptr)->wait(where_);
}

void replicas::state::copies_loop::warn(const error& why) {
  of_->tell({.what = replica_event::kind::warning, .step = done_, .text = why.what()});
}

replicas_report replicas::state::copies_loop::finish() {
  if (saves())
    settle_writer(); // that it failed does not cost the last one
  if (saves() && set_.empty() && !filled_.empty() && !left_ &&
      why_ != training_end::not_a_number) // some have what is to be saved
    try {
      form();
    } catch (const error& why) {
      warn(why);
    }
  replicas_report made{.step = done_,
                       .why = why_,
                       .loss = loss_,
                       .restored_from = restored_from_,
                       .replicas = counts_};
  if (!saves())
    return made;
  if (why_ == training_end::not_a_number || set_.empty() || left_ ||
      (done_ == saved_step_ && (saves_ours_ || restored_from_ >= 0))) {
    made.checkpoint = of_->newest();
    return made;
  }
  made.checkpoint = saves_of(source_).save(in_, done_, where_);
  return made;
}

} // namespace troupe
