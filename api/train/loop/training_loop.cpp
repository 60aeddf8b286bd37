#include "troupe/api/train/loop/training_loop.hpp"

#include "troupe/api/internal/retries.hpp"
#include "troupe/api/train/checkpoint/saver_access.hpp"
#include "troupe/api/train/loop/first_fill.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <thread>

namespace troupe {
namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

constexpr seconds longest_pause{5};
// Until the runs of runners that are under way have ended.
constexpr std::chrono::minutes longest_suspension{1};

// What has failed in a row: steps, or something beside them that may fail while they end well.
struct trouble {
  int attempts = 0; // to go on
  std::optional<error> first;
};

// A step that a thread has taken on.
struct ticket {
  int64_t number = -1;
  uint64_t turn = 0; // how many were taken before, and this
  bool under_way = false;
  bool again = false; // it failed, and is to run with the same number
  bool summarizes = false;
  uint64_t recoveries = 0; // when it was taken
  uint64_t beginning = 0;
  trouble* beside = nullptr; // what is being done after it, which may fail by itself
};

} // namespace

// One run. What threads share is guarded by the run's mutex.
class training_run::state::loop {
public:
  loop(state& of, session& in, location where)
      : of_(of), options_(of.options), in_(in), where_(where) {
    for (const auto& one : of.steps)
      threads_ += static_cast<size_t>(one.at_once);
  }

  training_report run() {
    if (of_.saves)
      saver_access::watch(
          *of_.saves,
          {.begun = [this](int64_t at) { note_read(at); },
           .may_be_seen = [this] { return is_sound(); },
           .saved =
               [this](int64_t at, const std::string& path) {
                 saves_ours_ = true;
                 of_.tell({.what = training_event::kind::saved, .step = at, .text = path});
               }});
    {
      std::unique_lock lock{of_.mutex};
      paused_ = true;
      go_on(lock, {}, steps_);
      paused_ = false;
    }
    {
      std::vector<std::jthread> threads;
      try {
        for (size_t replica = of_.steps.size(); replica-- > 0;)
          for (int i = replica == 0 ? 1 : 0; i < of_.steps[replica].at_once; ++i)
            threads.emplace_back([this, replica] { work(replica); });
      } catch (...) { // there are no more threads: those that run must not train to the end
        std::lock_guard guard{of_.mutex};
        give_up(std::current_exception());
      }
      work(0);
    }
    if (problem_ || !options_.keep_input)
      input_.reset();
    if (problem_) {
      try {
        await_writer(); // which may need the session
      } catch (...) {   // there is an earlier error to tell
      }
      std::rethrow_exception(problem_);
    }
    return finish();
  }

private:
  using lock_of_all = std::unique_lock<std::mutex>;

  // -- steps

  void work(size_t replica) {
    ticket mine;
    while (take(mine, replica))
      try {
        run_step(mine, replica);
      } catch (const error& why) {
        failed(mine, why);
      } catch (...) {
        lock_of_all lock{of_.mutex};
        leave(mine);
        give_up(std::current_exception());
      }
  }

  bool take(ticket& mine, size_t replica) {
    lock_of_all lock{of_.mutex};
    auto last = options_.last_step;
    // Who finds no step left waits: others may fail, and all go on from a checkpoint.
    of_.changed.wait(lock, [&] {
      if (of_.asked)
        stop(training_end::asked);
      else if (last >= 0 && done_ >= last && !paused_)
        stop(training_end::last_step);
      return stopped_ || (!paused_ && (last < 0 || next_ < last || repeats(mine)));
    });
    if (stopped_)
      return false;
    if (!repeats(mine)) {
      mine = {.number = next_++, .beginning = beginnings_};
      mine.summarizes = of_.shown && mine.number >= next_summary_ &&
                        (!options_.summary || prepared_[replica].summarizing);
      if (mine.summarizes)
        next_summary_ = mine.number + options_.summary_steps;
    }
    mine.again = false;
    mine.under_way = true;
    mine.recoveries = recoveries_;
    ++running_;
    return true;
  }
  bool repeats(const ticket& one) const { return one.again && one.beginning == beginnings_; }

  void leave(ticket& mine) {
    if (std::exchange(mine.under_way, false)) {
      --running_;
      under_way_.erase(mine.turn);
    }
    of_.changed.notify_all();
  }

  // From here on, a checkpoint may have something of the step.
  void begin_turn(ticket& mine) {
    lock_of_all lock{of_.mutex};
    under_way_.insert(mine.turn = ++turns_);
  }

  void run_step(ticket& mine, size_t replica) {
    std::vector<tensor> feeds;
    if (options_.batch) {
      auto batch = options_.batch(mine.number);
      if (!batch)
        throw error{failure(error_kind::out_of_range, "the data has ended")};
      feeds = *std::move(batch);
    }
    begin_turn(mine);
    auto& [plain, summarizing] = prepared_[replica];
    step_statistics statistics;
    auto traced = traced_.fetch_add(1) < options_.trace_steps;
    auto fetched = (mine.summarizes && summarizing ? *summarizing : plain)
                       .run(feeds, {.statistics = traced ? &statistics : nullptr}, where_);
    training_progress news{.replica = replica};
    if (of_.steps[replica].loss)
      news.loss = number_in(fetched.front());
    auto saves = note(mine, news, traced ? &statistics : nullptr);
    auto asks_after = saves && options_.metric;
    try {
      if (options_.on_step)
        beside(mine, told_, [&] {
          options_.on_step(news);
          return true;
        });
      if (mine.summarizes)
        beside(mine, shown_, [&] {
          show(fetched, news, summarizing.has_value());
          return true;
        });
      if (saves)
        beside(mine, written_, [&] { return save(mine); });
    } catch (...) {
      if (saves)
        others_may_save();
      if (asks_after)
        ask_whether_to_end(news);
      throw;
    }
    if (saves)
      others_may_save();
    if (asks_after)
      ask_whether_to_end(news);
  }

  // After a metric, which may be what the condition goes by.
  void ask_whether_to_end(const training_progress& news) {
    lock_of_all lock{of_.mutex};
    if (!stopped_ && options_.when && options_.when(news))
      stop(training_end::condition);
  }

  // `act` returns whether there is no trouble with that any more.
  template <class Act>
  void beside(ticket& mine, trouble& with, Act act) {
    mine.beside = &with;
    if (act()) {
      lock_of_all lock{of_.mutex};
      with = {};
    }
    mine.beside = nullptr;
  }

  // A step has ended well. Returns whether a checkpoint is due, which is the caller's to write.
  bool note(ticket& mine, training_progress& news, step_statistics* statistics) {
    auto now = clock::now();
    auto elapsed = seconds{now - begin_}.count();
    lock_of_all lock{of_.mutex};
    auto is_bad = options_.stop_at_nan && !std::isfinite(news.loss);
    if (is_bad)
      first_bad_ = std::min(first_bad_, mine.turn);
    leave(mine);
    steps_ = {};
    news.step = ++done_;
    news.steps_per_second = static_cast<double>(++count_) / std::max(elapsed, 1e-9);
    if (statistics)
      trace_.push_back(std::move(*statistics));
    if (why_ == training_end::not_a_number) // the loss that ended the run stays
      return false;
    loss_ = news.loss;
    if (is_bad) { // whatever else the run was about to end for: its values must not be saved
      stop(training_end::not_a_number);
      why_ = training_end::not_a_number;
      return false;
    }
    if (stopped_)
      return false;
    auto is_over = options_.time_limit > 0 && elapsed >= options_.time_limit;
    auto saves = !is_over && is_save_due(now);
    if (!(saves && options_.metric) && options_.when && options_.when(news))
      stop(training_end::condition);
    else if (is_over)
      stop(training_end::time_over);
    saves = saves && !stopped_;
    saving_ |= saves;
    return saves;
  }

  // With the mutex.
  bool is_save_due(clock::time_point now) const {
    if (!of_.saves || saving_ || of_.asked || done_ == options_.last_step)
      return false;
    auto by_time = options_.checkpoint_seconds;
    return is_checkpoint_due(saved_step_, done_, options_.checkpoint_steps) ||
           (by_time > 0 && seconds{now - saved_at_}.count() >= by_time);
  }

  void show(const std::vector<tensor>& fetched, const training_progress& news, bool has_summary) {
    auto& to = *of_.shown;
    auto has_loss = static_cast<bool>(of_.steps[news.replica].loss);
    if (has_summary) {
      to.add(fetched.back(), news.step, where_);
      if (says_loss_ == 0)
        says_loss_ = has_tag(fetched.back(), "loss") ? 1 : -1;
      has_loss = has_loss && says_loss_ < 0;
    }
    if (has_loss)
      to.add("loss", static_cast<float>(news.loss), news.step, where_);
    to.add("steps_per_second", static_cast<float>(news.steps_per_second), news.step, where_);
  }

  // -- checkpoints

  // Returns whether an earlier one, or this, was written, and not only begun.
  bool save(const ticket& mine) {
    bool written = false;
    try {
      std::lock_guard guard{saver_mutex_};
      written = await_writer();
    } catch (const error& why) {
      if (may_pass(why))
        throw;
      lock_of_all lock{of_.mutex};
      give_up(std::current_exception());
      return false;
    }
    lock_of_all lock{of_.mutex};
    auto pauses = options_.pause_to_checkpoint || options_.keep_input || threads_ == 1;
    if (pauses)
      pause(lock);
    else
      of_.changed.wait(lock, [&] { return stopped_ || !paused_; });
    // Meanwhile the run may have ended, without a number perhaps, or have begun again.
    auto due = !stopped_ && mine.beginning == beginnings_;
    if (due && !pauses)
      ++running_; // nobody restores what is being read
    auto at = done_;
    lock.unlock();
    std::exception_ptr unread;
    try {
      if (due)
        written |= read_to_save(at, pauses);
    } catch (...) {
      unread = std::current_exception();
    }
    lock.lock();
    if (pauses)
      paused_ = false;
    else if (due)
      --running_;
    of_.changed.notify_all();
    if (unread)
      std::rethrow_exception(unread);
    if (due) {
      saved_step_ = at;
      saved_at_ = clock::now();
    }
    return written;
  }

  void others_may_save() {
    lock_of_all lock{of_.mutex};
    saving_ = false;
  }

  // All values of a checkpoint have been read.
  void note_read(int64_t at) {
    {
      lock_of_all lock{of_.mutex};
      read_until_ = turns_;
    }
    of_.tell({.what = training_event::kind::saving, .step = at});
  }

  // On the thread that writes: whether each step that a checkpoint may have something of has ended
  // without a loss that is NaN or infinite.
  bool is_sound() {
    lock_of_all lock{of_.mutex};
    const auto until = options_.keep.by_tasks ? turns_ : read_until_; // tasks read when they write
    of_.changed.wait(lock, [&] { return under_way_.empty() || *under_way_.begin() > until; });
    return first_bad_ > until;
  }

  // They are written beside the steps, but in a pause by tasks, which read when they write.
  bool read_to_save(int64_t at, bool pauses) {
    std::lock_guard guard{saver_mutex_};
    auto metric = options_.metric ? std::optional{options_.metric(at)} : std::nullopt;
    bool written = false;
    while_input_stands([&] {
      metric ? of_.saves->save_async(in_, at, *metric, where_)
             : of_.saves->save_async(in_, at, where_);
      begun_ = true;
      written = pauses && options_.keep.by_tasks && await_writer();
    });
    return written;
  }

  // No step of the training runs, and, while what the queues hold is read, none of a runner.
  template <class Act>
  void while_input_stands(Act act) {
    if (!options_.keep_input || !input_)
      return act();
    input_->while_suspended(
        [&] {
          of_.runs_left = input_->runs_left();
          act();
        },
        longest_suspension, where_);
  }

  // With the saver's mutex, or where no other thread is left. Returns whether there was something
  // to write; throws what that failed with.
  bool await_writer() {
    if (!of_.saves)
      return false;
    auto begun = std::exchange(begun_, false);
    of_.saves->wait(where_);
    return begun;
  }

  training_report finish() {
    training_report made{.step = done_,
                         .why = why_,
                         .loss = loss_,
                         .restored_from = restored_from_,
                         .retries = retries_,
                         .trace = std::move(trace_)};
    if (of_.saves)
      made.checkpoint = save_last();
    if (of_.shown)
      of_.shown->flush(where_);
    return made;
  }

  // Returns the path of the newest. One that could not be written does not cost this one.
  std::string save_last() {
    std::optional<error> unwritten;
    try {
      await_writer();
    } catch (const error& why) {
      unwritten = why;
      saved_step_ = -1;
    }
    if (why_ != training_end::not_a_number && !unsound_ &&
        (done_ != saved_step_ || (!saves_ours_ && restored_from_ < 0))) {
      if (unwritten)
        of_.tell({.what = training_event::kind::warning, .step = done_, .text = unwritten->what()});
      auto metric = options_.metric ? std::optional{options_.metric(done_)} : std::nullopt;
      {
        lock_of_all lock{of_.mutex};
        read_until_ = turns_;
      }
      std::string path;
      while_input_stands([&] {
        path = metric ? of_.saves->save(in_, done_, *metric, where_)
                      : of_.saves->save(in_, done_, where_);
      });
      return path;
    }
    if (unwritten)
      throw *unwritten;
    checkpoint_folder of{real_files(), options_.checkpoints};
    auto latest = of.latest();
    return latest ? of.path_of(*latest) : "";
  }

  // -- errors

  // The end of the data, something that may pass, or the end of the run.
  void failed(ticket& mine, const error& why) {
    lock_of_all lock{of_.mutex};
    auto* beside = std::exchange(mine.beside, nullptr);
    mine.again = mine.under_way;
    leave(mine);
    if (stopped_)
      return;
    auto ends = why.kind() == error_kind::out_of_range && !beside;
    if (!ends && !may_pass(why) && why.kind() != error_kind::failed_precondition)
      return give_up(std::make_exception_ptr(why));
    of_.changed.wait(lock, [&] { return stopped_ || !paused_; });
    if (stopped_ || recoveries_ != mine.recoveries) // somebody has seen to it meanwhile
      return;
    pause(lock);
    std::optional<error> cause = why;
    if (ends && !stopped_) {
      lock.unlock();
      cause = end_of_data();
      lock.lock();
    }
    if (!cause)
      stop(training_end::data_ended);
    else if (!stopped_ && !may_pass(*cause) && cause->kind() != error_kind::failed_precondition)
      give_up(std::make_exception_ptr(*cause));
    else if (!stopped_)
      go_on(lock, cause, beside ? *beside : steps_);
    paused_ = false;
    of_.changed.notify_all();
  }

  // Why there is no more data, where it was an error: of a runner, or the queues went with their
  // task.
  std::optional<error> end_of_data() {
    try {
      if (input_) {
        input_->request_stop();
        input_->join(std::chrono::seconds{10}, where_);
      }
      if (lost_state())
        return error{error_kind::aborted, "the variables are gone"};
      return {};
    } catch (const error& why) {
      return why;
    }
  }

  // Waits until no step runs, and keeps others from beginning.
  void pause(lock_of_all& lock) {
    of_.changed.wait(lock, [&] { return !paused_; });
    paused_ = true;
    of_.changed.wait(lock, [&] { return running_ == 0; });
  }

  // Makes steps run, at first and again after an error. No step runs meanwhile.
  void go_on(lock_of_all& lock, std::optional<error> cause, trouble& with) {
    for (;;) {
      if (cause && with.attempts == 0)
        with.first = cause;
      if (cause && !wait_to_retry(lock, *cause, with))
        return;
      lock.unlock();
      auto next = try_again(cause);
      lock.lock();
      if (problem_)
        return;
      if (!next) {
        ++recoveries_;
        if (cause)
          of_.tell({.what = training_event::kind::recovered, .step = done_});
        return;
      }
      if (!may_pass(*next))
        return give_up(std::make_exception_ptr(*next));
      cause = next;
    }
  }

  bool wait_to_retry(lock_of_all& lock, const error& cause, trouble& with) {
    if (with.attempts >= options_.retries) {
      const auto& first = *with.first;
      give_up(std::make_exception_ptr(
          error{first.kind(),
                concat(first.what(), "; gave up after ", with.attempts, " attempts to go on")}));
      return false;
    }
    auto pause = seconds{options_.retry_seconds} * std::pow(2.0, with.attempts);
    ++with.attempts;
    ++retries_;
    of_.tell({.what = training_event::kind::retrying,
              .step = done_,
              .text = cause.what(),
              .cause = with.first,
              .retry = with.attempts});
    of_.changed.wait_for(lock, std::min<seconds>(pause, longest_pause),
                         [&] { return of_.asked || stopped_; });
    if (!of_.asked && !stopped_)
      return true;
    unsound_ = true; // nobody knows what the variables are now
    stop(training_end::asked);
    return false;
  }

  // Without the lock. Returns why steps cannot run.
  std::optional<error> try_again(const std::optional<error>& cause) {
    try {
      auto refilled = false;
      auto anew = (!began_ && !filled_.follows()) || (input_ && input_->should_stop());
      filled_.run(in_, where_, [&] {
        if (!of_.sizes.empty()) // of the input's queues, which are filled beside the steps
          in_.run({}, of_.sizes, {}, {}, where_);
        if (anew = anew || lost_state() || filled_.is_unended(in_); anew)
          begin();
        else if (refilled = !began_ || lost(of_.local_initialized); refilled)
          initialize_local(!began_);
      });
      if (!anew && !refilled && cause && cause->kind() == error_kind::failed_precondition)
        return cause;
      prepare();
      if (options_.input && (anew || !input_)) {
        input_.emplace();
        input_->go_on_from(runs_left_);
        options_.input->start(in_, *input_, where_);
      }
      began_ = true;
      return {};
    } catch (const error& why) {
      return why;
    } catch (...) {
      std::lock_guard guard{of_.mutex};
      give_up(std::current_exception());
      return {};
    }
  }

  // At a beginning, with the caller's part of it.
  void initialize_local(bool begins = true) {
    if (of_.initialize_local)
      in_.run(of_.initialize_local, {}, {}, where_);
    if (begins && options_.local_initializer)
      in_.run(options_.local_initializer, {}, {}, where_);
  }

  bool lost_state() { return lost(of_.initialized); }

  bool lost(const std::vector<edge>& initialized) {
    if (initialized.empty())
      return false;
    auto flags = in_.run({}, initialized, {}, {}, where_);
    return std::ranges::any_of(flags, [](const tensor& one) { return !*one.data<bool>(); });
  }

  // Gives all variables their values: those of a checkpoint, or those that they begin with.
  void begin() {
    std::unique_lock guard{saver_mutex_};
    await_writer(); // whether what is being written is ours to go on with shows when it is written
    if (options_.input && began_) {
      input_.reset();
      in_.reset(where_);
    }
    std::optional<restore_report> found;
    if (of_.saves && (options_.resume || saves_ours_)) {
      if (options_.partial) // what the checkpoint does not have
        in_.run(options_.initializer, {}, {}, where_);
      found = saver_access::restore(*of_.saves, in_, options_.partial, "training_options::partial",
                                    error_kind::failed_precondition, where_);
    }
    guard.unlock();
    runs_left_ = found ? runs_left_in(found->notes) : std::map<std::string, int64_t>{};
    if (found)
      of_.tell_differences(*found);
    if (!found && options_.keep_input) // queues of a run before, which may be suspended
      in_.reset(where_);
    if (!found)
      in_.run(options_.initializer, {}, {}, where_);
    initialize_local();
    if (!began_ && found)
      restored_from_ = found->step;
    of_.tell({.what = found ? training_event::kind::restored : training_event::kind::initialized,
              .step = found ? found->step : 0,
              .text = found ? found->path : ""});
    lock_of_all lock{of_.mutex};
    done_ = next_ = saved_step_ = next_summary_ = found ? found->step : 0;
    saved_at_ = clock::now();
    ++beginnings_;
  }

  void prepare() {
    prepared_.clear();
    for (const auto& one : of_.steps) {
      auto fetches = one.loss ? std::vector{one.loss} : std::vector<edge>{};
      prepared made{in_.prepare(one.feeds, fetches, one.train, where_), {}};
      const auto& summary = options_.summary;
      if (of_.shown && summary && &summary.node->graph() == &one.train.front().run->graph()) {
        fetches.push_back(summary);
        made.summarizing = in_.prepare(one.feeds, fetches, one.train, where_);
      }
      prepared_.push_back(std::move(made));
    }
  }

  void stop(training_end why) {
    if (!std::exchange(stopped_, true))
      why_ = why;
    of_.changed.notify_all();
  }

  void give_up(std::exception_ptr why) {
    if (!problem_)
      problem_ = std::move(why);
    stopped_ = true;
    of_.changed.notify_all();
  }

  struct prepared {
    step plain;
    std::optional<step> summarizing;
  };

  state& of_;
  const training_options& options_;
  session& in_;
  const location where_;
  const clock::time_point begin_ = clock::now();
  size_t threads_ = 0, running_ = 0;
  std::mutex saver_mutex_;
  std::optional<coordinator> input_;
  std::map<std::string, int64_t> runs_left_; // of its runners, in the checkpoint that was restored
  std::vector<prepared> prepared_;           // changes while no step runs
  bool began_ = false;                       // while no step runs
  first_fill filled_;
  std::atomic<int64_t> traced_{0};

  int64_t next_ = 0, done_ = 0, count_ = 0; // steps: the next, and done in all and by this run
  bool paused_ = false, saving_ = false;    // one thread has it to itself; sees to a checkpoint
  uint64_t recoveries_ = 0, beginnings_ = 0;
  trouble steps_, told_, shown_, written_;
  int retries_ = 0;                      // all together
  bool begun_ = false;                   // with the saver's mutex: being written
  std::atomic<bool> saves_ours_ = false; // a checkpoint of this run is complete
  uint64_t turns_ = 0;                   // steps that have begun, those that run again included
  std::set<uint64_t> under_way_;         // turns of steps that have not ended
  uint64_t first_bad_ = UINT64_MAX;      // the first turn with a loss that is none
  uint64_t read_until_ = 0;              // what is being written has nothing of later turns
  std::atomic<int> says_loss_{0};        // whether the summary does; 0 before there was one
  int64_t saved_step_ = 0, restored_from_ = -1, next_summary_ = 0;
  clock::time_point saved_at_ = begin_;
  double loss_ = 0;
  bool stopped_ = false, unsound_ = false;
  training_end why_ = training_end::asked;
  std::exception_ptr problem_;
  std::vector<step_statistics> trace_;
};

void training_run::state::open_summaries(location where) {
  if (options.summaries.empty() || shown)
    return;
  shown.emplace(options.summaries, summary_options{.take_over = options.keep.take_over}, where);
  shown->add_graph(graph, where);
}

training_report training_run::state::run(session& in, location where) {
  struct lock_of_run { // of a saver that writes no more when the run has ended
    saver* by;
    ~lock_of_run() {
      if (!by)
        return;
      saver_access::watch(*by, {});
      saver_access::use_lock(*by, nullptr);
    }
  } held{saves ? &*saves : nullptr};
  if (saves) {
    auto within = concat("training_run (", to_string(where), ')');
    if (auto folder = make_folder_durably(real_files(), options.checkpoints); !folder)
      throw error{std::move(folder).within(within)};
    auto lock =
        saver_access::lock_folder(options.checkpoints, options.keep, "training_run",
                                  "saver_options::take_over (troupe train --take-over)", where);
    if (!lock)
      throw error{status{lock.status()}.within(within)};
    saver_access::use_lock(*saves, *std::move(lock));
  }
  open_summaries(where);
  return loop{*this, in, where}.run();
}

} // namespace troupe
