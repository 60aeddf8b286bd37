#include "troupe/api/train/loop/training_loop.hpp"
// The loop of a training run: threads that run steps, checkpoints, and recovery from errors.

#include "troupe/api/internal/retries.hpp"
#include "troupe/api/train/checkpoint/saver_access.hpp"
#include "troupe/api/train/loop/run_initialization.hpp"
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
// Timeout for the running steps of runners to end.
constexpr std::chrono::minutes longest_suspension{1};

// Consecutive failures of steps, or of an action after a step, which may fail while steps succeed.
struct failure_streak {
  int attempts = 0; // to recover
  std::optional<error> first;
};

// A step that a thread has taken.
struct ticket {
  int64_t number = -1;
  uint64_t step_id = 0; // counts attempts of steps
  bool under_way = false;
  bool must_repeat = false; // it failed, and runs again with the same number
  bool summarizes = false;
  uint64_t recoveries = 0; // value of the counter when the step was taken
  uint64_t beginning = 0;
  failure_streak* action_failures = nullptr; // of the action after the step that runs now
};

} // namespace

// One run. State shared by threads is guarded by the run's mutex.
class training_run::state::loop {
public:
  loop(state& run_state, session& in, location where)
      : state_(run_state), options_(run_state.options), session_(in), where_(where) {
    for (const auto& kind : run_state.steps)
      threads_ += static_cast<size_t>(kind.concurrent_steps);
  }

  training_report run() {
    if (state_.checkpoints)
      saver_access::watch(*state_.checkpoints,
                          {.begun = [this](int64_t step_number) { note_read(step_number); },
                           .may_publish = [this] { return is_sound(); },
                           .saved =
                               [this](int64_t step_number, const std::string& path) {
                                 wrote_checkpoint_ = true;
                                 state_.report_event({.kind = training_event_kind::saved,
                                                      .step = step_number,
                                                      .text = path});
                               }});
    {
      std::unique_lock lock{state_.mutex};
      paused_ = true;
      recover(lock, {}, step_failures_);
      paused_ = false;
    }
    {
      std::vector<std::jthread> threads;
      try {
        for (size_t replica = state_.steps.size(); replica-- > 0;)
          for (int i = replica == 0 ? 1 : 0; i < state_.steps[replica].concurrent_steps; ++i)
            threads.emplace_back([this, replica] { work(replica); });
      } catch (
          ...) { // no more threads could be started: the existing ones must not train to the end
        std::lock_guard guard{state_.mutex};
        give_up(std::current_exception());
      }
      work(0);
    }
    if (problem_ || !options_.save_input)
      input_.reset();
    if (problem_) {
      try {
        await_writer(); // the pending write may need the session
      } catch (...) {   // the earlier error is thrown
      }
      std::rethrow_exception(problem_);
    }
    return finish();
  }

private:
  using run_lock = std::unique_lock<std::mutex>;

  // -- steps

  void work(size_t replica) {
    ticket current;
    while (take_step(current, replica))
      try {
        run_step(current, replica);
      } catch (const error& cause) {
        handle_failure(current, cause);
      } catch (...) {
        run_lock lock{state_.mutex};
        end_step(current);
        give_up(std::current_exception());
      }
  }

  bool take_step(ticket& current, size_t replica) {
    run_lock lock{state_.mutex};
    auto last = options_.last_step;
    // A thread without a step waits: other steps may fail, and all restart from a checkpoint.
    state_.changed.wait(lock, [&] {
      if (state_.stop_requested)
        stop(training_end::stop_requested);
      else if (last >= 0 && done_ >= last && !paused_)
        stop(training_end::last_step);
      return stopped_ || (!paused_ && (last < 0 || next_ < last || repeats(current)));
    });
    if (stopped_)
      return false;
    if (!repeats(current)) {
      current = {.number = next_++, .beginning = beginnings_};
      current.summarizes = state_.summary_file && current.number >= next_summary_ &&
                           (!options_.summary || prepared_[replica].summarizing);
      if (current.summarizes)
        next_summary_ = current.number + options_.summary_steps;
    }
    current.must_repeat = false;
    current.under_way = true;
    current.recoveries = recoveries_;
    ++running_;
    return true;
  }
  bool repeats(const ticket& taken) const {
    return taken.must_repeat && taken.beginning == beginnings_;
  }

  void end_step(ticket& current) {
    if (std::exchange(current.under_way, false)) {
      --running_;
      under_way_.erase(current.step_id);
    }
    state_.changed.notify_all();
  }

  // After this call, a checkpoint may include effects of the step.
  void register_step(ticket& current) {
    run_lock lock{state_.mutex};
    under_way_.insert(current.step_id = ++last_step_id_);
  }

  void run_step(ticket& current, size_t replica) {
    std::vector<tensor> feeds;
    if (options_.batch) {
      auto batch = options_.batch(current.number);
      if (!batch)
        throw error{failure(error_kind::out_of_range, "the data has ended")};
      feeds = *std::move(batch);
    }
    register_step(current);
    auto& [plain, summarizing] = prepared_[replica];
    step_statistics statistics;
    auto traced = traced_.fetch_add(1) < options_.trace_steps;
    auto fetched = (current.summarizes && summarizing ? *summarizing : plain)
                       .run(feeds, {.statistics = traced ? &statistics : nullptr}, where_);
    training_progress progress{.replica = replica};
    if (state_.steps[replica].loss)
      progress.loss = number_in(fetched.front());
    auto saves = record_step(current, progress, traced ? &statistics : nullptr);
    auto checks_condition_last = saves && options_.checkpoint_metric;
    try {
      if (options_.on_step)
        run_action(current, callback_failures_, [&] {
          options_.on_step(progress);
          return true;
        });
      if (current.summarizes)
        run_action(current, summary_failures_, [&] {
          show(fetched, progress, summarizing.has_value());
          return true;
        });
      if (saves)
        run_action(current, save_failures_, [&] { return save(current); });
    } catch (...) {
      if (saves)
        release_save();
      if (checks_condition_last)
        check_condition(progress);
      throw;
    }
    if (saves)
      release_save();
    if (checks_condition_last)
      check_condition(progress);
  }

  // Called after the metric of a checkpoint, which the condition may depend on.
  void check_condition(const training_progress& progress) {
    run_lock lock{state_.mutex};
    if (!stopped_ && options_.stop_when && options_.stop_when(progress))
      stop(training_end::condition);
  }

  // Runs an action after a step. `act` returns true if an earlier failure of the action is
  // resolved.
  template <class Act>
  void run_action(ticket& current, failure_streak& failures, Act act) {
    current.action_failures = &failures;
    if (act()) {
      run_lock lock{state_.mutex};
      failures = {};
    }
    current.action_failures = nullptr;
  }

  // Records a successful step. Returns true if a checkpoint is due, which the caller must write.
  bool record_step(ticket& current, training_progress& progress, step_statistics* statistics) {
    auto now = clock::now();
    auto elapsed = seconds{now - begin_}.count();
    run_lock lock{state_.mutex};
    auto is_bad = options_.stop_at_nan && !std::isfinite(progress.loss);
    if (is_bad)
      first_bad_id_ = std::min(first_bad_id_, current.step_id);
    end_step(current);
    step_failures_ = {};
    progress.step = ++done_;
    progress.steps_per_second = static_cast<double>(++count_) / std::max(elapsed, 1e-9);
    if (statistics)
      trace_.push_back(std::move(*statistics));
    if (end_reason_ == training_end::not_a_number) // keep the loss that ended the run
      return false;
    loss_ = progress.loss;
    if (is_bad) { // overrides any other reason to end: the values must not be saved
      stop(training_end::not_a_number);
      end_reason_ = training_end::not_a_number;
      return false;
    }
    if (stopped_)
      return false;
    auto is_over = options_.time_limit > 0 && elapsed >= options_.time_limit;
    auto saves = !is_over && is_save_due(now);
    if (!(saves && options_.checkpoint_metric) && options_.stop_when &&
        options_.stop_when(progress))
      stop(training_end::condition);
    else if (is_over)
      stop(training_end::time_limit);
    saves = saves && !stopped_;
    saving_ |= saves;
    return saves;
  }

  // Requires the mutex.
  bool is_save_due(clock::time_point now) const {
    if (!state_.checkpoints || saving_ || state_.stop_requested || done_ == options_.last_step)
      return false;
    auto by_time = options_.checkpoint_seconds;
    return is_checkpoint_due(saved_step_, done_, options_.checkpoint_steps) ||
           (by_time > 0 && seconds{now - saved_at_}.count() >= by_time);
  }

  void show(const std::vector<tensor>& fetched, const training_progress& progress,
            bool has_summary) {
    auto& writer = *state_.summary_file;
    auto has_loss = static_cast<bool>(state_.steps[progress.replica].loss);
    if (has_summary) {
      writer.add(fetched.back(), progress.step, where_);
      if (summary_has_loss_ == 0)
        summary_has_loss_ = has_tag(fetched.back(), "loss") ? 1 : -1;
      has_loss = has_loss && summary_has_loss_ < 0;
    }
    if (has_loss)
      writer.add("loss", static_cast<float>(progress.loss), progress.step, where_);
    writer.add("steps_per_second", static_cast<float>(progress.steps_per_second), progress.step,
               where_);
  }

  // -- checkpoints

  // Returns true if an earlier checkpoint or this one was completed, not only started.
  bool save(const ticket& current) {
    bool written = false;
    try {
      std::lock_guard guard{saver_mutex_};
      written = await_writer();
    } catch (const error& cause) {
      if (may_pass(cause))
        throw;
      run_lock lock{state_.mutex};
      give_up(std::current_exception());
      return false;
    }
    run_lock lock{state_.mutex};
    auto pauses = options_.pause_during_checkpoint || options_.save_input || threads_ == 1;
    if (pauses)
      pause(lock);
    else
      state_.changed.wait(lock, [&] { return stopped_ || !paused_; });
    // Meanwhile the run may have ended, or have been restarted.
    auto due = !stopped_ && current.beginning == beginnings_;
    if (due && !pauses)
      ++running_; // blocks a restore while values are read
    auto step_number = done_;
    lock.unlock();
    std::exception_ptr read_failure;
    try {
      if (due)
        written |= read_to_save(step_number, pauses);
    } catch (...) {
      read_failure = std::current_exception();
    }
    lock.lock();
    if (pauses)
      paused_ = false;
    else if (due)
      --running_;
    state_.changed.notify_all();
    if (read_failure)
      std::rethrow_exception(read_failure);
    if (due) {
      saved_step_ = step_number;
      saved_at_ = clock::now();
    }
    return written;
  }

  void release_save() {
    run_lock lock{state_.mutex};
    saving_ = false;
  }

  // Called when all values of a checkpoint have been read.
  void note_read(int64_t step_number) {
    {
      run_lock lock{state_.mutex};
      read_until_id_ = last_step_id_;
    }
    state_.report_event({.kind = training_event_kind::saving, .step = step_number});
  }

  // Called on the writing thread: waits for all steps that may have contributed to the checkpoint,
  // and returns true if none of them had a loss that is NaN or infinite.
  bool is_sound() {
    run_lock lock{state_.mutex};
    const auto last_contributor = options_.checkpoint_options.sharded_by_task
                                      ? last_step_id_
                                      : read_until_id_; // tasks read while they write
    state_.changed.wait(
        lock, [&] { return under_way_.empty() || *under_way_.begin() > last_contributor; });
    return first_bad_id_ > last_contributor;
  }

  // Writes run in the background. If tasks write during a pause, the pause includes the write,
  // because they read while they write.
  bool read_to_save(int64_t step_number, bool pauses) {
    std::lock_guard guard{saver_mutex_};
    auto metric = options_.checkpoint_metric
                      ? std::optional{options_.checkpoint_metric(step_number)}
                      : std::nullopt;
    bool written = false;
    while_input_is_suspended([&] {
      metric ? state_.checkpoints->save_async(session_, step_number, *metric, where_)
             : state_.checkpoints->save_async(session_, step_number, where_);
      write_pending_ = true;
      written = pauses && options_.checkpoint_options.sharded_by_task && await_writer();
    });
    return written;
  }

  // Runs `act` while no step of the training runs. If queues are saved, no step of a runner runs
  // either.
  template <class Act>
  void while_input_is_suspended(Act act) {
    if (!options_.save_input || !input_)
      return act();
    input_->run_while_suspended(
        [&] {
          state_.runs_left = input_->runs_left();
          act();
        },
        longest_suspension, where_);
  }

  // Requires the saver's mutex, or that no other thread is left. Returns true if a write was
  // pending, and throws its error.
  bool await_writer() {
    if (!state_.checkpoints)
      return false;
    auto was_pending = std::exchange(write_pending_, false);
    state_.checkpoints->wait(where_);
    return was_pending;
  }

  training_report finish() {
    training_report report{.step = done_,
                           .end_reason = end_reason_,
                           .loss = loss_,
                           .restored_from = restored_from_,
                           .retries = retries_,
                           .trace = std::move(trace_)};
    if (state_.checkpoints)
      report.checkpoint = save_last();
    if (state_.summary_file)
      state_.summary_file->flush(where_);
    return report;
  }

  // Returns the path of the newest checkpoint. A failure of an earlier write does not prevent this
  // one.
  std::string save_last() {
    std::optional<error> write_failure;
    try {
      await_writer();
    } catch (const error& cause) {
      write_failure = cause;
      saved_step_ = -1;
    }
    if (end_reason_ != training_end::not_a_number && !values_unknown_ &&
        (done_ != saved_step_ || (!wrote_checkpoint_ && restored_from_ < 0))) {
      if (write_failure)
        state_.report_event(
            {.kind = training_event_kind::warning, .step = done_, .text = write_failure->what()});
      auto metric = options_.checkpoint_metric ? std::optional{options_.checkpoint_metric(done_)}
                                               : std::nullopt;
      {
        run_lock lock{state_.mutex};
        read_until_id_ = last_step_id_;
      }
      std::string path;
      while_input_is_suspended([&] {
        path = metric ? state_.checkpoints->save(session_, done_, *metric, where_)
                      : state_.checkpoints->save(session_, done_, where_);
      });
      return path;
    }
    if (write_failure)
      throw *write_failure;
    checkpoint_folder folder{real_files(), options_.checkpoints};
    auto latest = folder.latest();
    return latest ? folder.path_of(*latest) : "";
  }

  // -- errors

  // Handles the end of the data, a temporary error, or an error that ends the run.
  void handle_failure(ticket& current, const error& cause) {
    run_lock lock{state_.mutex};
    auto* failures = std::exchange(current.action_failures, nullptr);
    current.must_repeat = current.under_way;
    end_step(current);
    if (stopped_)
      return;
    auto ends = cause.kind() == error_kind::out_of_range && !failures;
    if (!ends && !may_pass(cause) && cause.kind() != error_kind::failed_precondition)
      return give_up(std::make_exception_ptr(cause));
    state_.changed.wait(lock, [&] { return stopped_ || !paused_; });
    if (stopped_ || recoveries_ != current.recoveries) // another thread has recovered meanwhile
      return;
    pause(lock);
    std::optional<error> pending_cause = cause;
    if (ends && !stopped_) {
      lock.unlock();
      pending_cause = end_of_data();
      lock.lock();
    }
    if (!pending_cause)
      stop(training_end::data_ended);
    else if (!stopped_ && !may_pass(*pending_cause) &&
             pending_cause->kind() != error_kind::failed_precondition)
      give_up(std::make_exception_ptr(*pending_cause));
    else if (!stopped_)
      recover(lock, pending_cause, failures ? *failures : step_failures_);
    paused_ = false;
    state_.changed.notify_all();
  }

  // Returns nullopt at a regular end of the data; else the error that ended it: that of a runner,
  // or a lost task of the queues.
  std::optional<error> end_of_data() {
    try {
      if (input_) {
        input_->request_stop();
        input_->join(std::chrono::seconds{10}, where_);
      }
      if (lost_state())
        return error{error_kind::aborted, "the variables are gone"};
      return {};
    } catch (const error& cause) {
      return cause;
    }
  }

  // Waits until no step runs, and blocks new steps.
  void pause(run_lock& lock) {
    state_.changed.wait(lock, [&] { return !paused_; });
    paused_ = true;
    state_.changed.wait(lock, [&] { return running_ == 0; });
  }

  // Makes steps run, at the start and after an error. Requires that no step runs.
  void recover(run_lock& lock, std::optional<error> cause, failure_streak& failures) {
    for (;;) {
      if (cause && failures.attempts == 0)
        failures.first = cause;
      if (cause && !wait_to_retry(lock, *cause, failures))
        return;
      lock.unlock();
      auto next_cause = prepare_to_run(cause);
      lock.lock();
      if (problem_)
        return;
      if (!next_cause) {
        ++recoveries_;
        if (cause)
          state_.report_event({.kind = training_event_kind::recovered, .step = done_});
        return;
      }
      if (!may_pass(*next_cause))
        return give_up(std::make_exception_ptr(*next_cause));
      cause = next_cause;
    }
  }

  bool wait_to_retry(run_lock& lock, const error& cause, failure_streak& failures) {
    if (failures.attempts >= options_.max_retries) {
      const auto& first = *failures.first;
      give_up(std::make_exception_ptr(error{
          first.kind(), concat(first.what(), "; gave up after ", failures.attempts, " retries")}));
      return false;
    }
    auto delay = seconds{options_.retry_delay_seconds} * std::pow(2.0, failures.attempts);
    ++failures.attempts;
    ++retries_;
    state_.report_event({.kind = training_event_kind::retrying,
                         .step = done_,
                         .text = cause.what(),
                         .cause = failures.first,
                         .retry = failures.attempts});
    state_.changed.wait_for(lock, std::min<seconds>(delay, longest_pause),
                            [&] { return state_.stop_requested || stopped_; });
    if (!state_.stop_requested && !stopped_)
      return true;
    values_unknown_ = true; // the failed step may have changed some of the variables
    stop(training_end::stop_requested);
    return false;
  }

  // Called without the lock. Returns the reason if steps cannot run.
  std::optional<error> prepare_to_run(const std::optional<error>& cause) {
    try {
      auto initialized_local_only = false;
      auto must_begin = (!has_begun_ && !initialization_.may_be_initialized()) ||
                        (input_ && input_->should_stop());
      initialization_.run(session_, where_, [&] {
        if (!state_.queue_sizes.empty()) // uses the queues, which are filled outside of this call
          session_.run({}, state_.queue_sizes, {}, {}, where_);
        if (must_begin = must_begin || lost_state() || initialization_.is_incomplete(session_);
            must_begin)
          begin();
        else if (initialized_local_only = !has_begun_ || lost(state_.local_initialized);
                 initialized_local_only)
          initialize_local(!has_begun_);
      });
      if (!must_begin && !initialized_local_only && cause &&
          cause->kind() == error_kind::failed_precondition)
        return cause;
      prepare();
      if (options_.input && (must_begin || !input_)) {
        input_.emplace();
        input_->restore_runs_left(runs_left_);
        options_.input->start(session_, *input_, where_);
      }
      has_begun_ = true;
      return {};
    } catch (const error& failure_cause) {
      return failure_cause;
    } catch (...) {
      std::lock_guard guard{state_.mutex};
      give_up(std::current_exception());
      return {};
    }
  }

  // Initializes local variables. At a start, also runs the caller's local initializer.
  void initialize_local(bool begins = true) {
    if (state_.initialize_local)
      session_.run(state_.initialize_local, {}, {}, where_);
    if (begins && options_.local_initializer)
      session_.run(options_.local_initializer, {}, {}, where_);
  }

  bool lost_state() { return lost(state_.initialized); }

  bool lost(const std::vector<edge>& value_checks) {
    if (value_checks.empty())
      return false;
    auto flags = session_.run({}, value_checks, {}, {}, where_);
    return std::ranges::any_of(flags, [](const tensor& flag) { return !*flag.data<bool>(); });
  }

  // Gives all variables their values: from a checkpoint, or their initial values.
  void begin() {
    std::unique_lock guard{saver_mutex_};
    await_writer(); // only a completed write decides whether its checkpoint can be restored
    if (options_.input && has_begun_) {
      input_.reset();
      session_.reset(where_);
    }
    std::optional<restore_report> restored;
    if (state_.checkpoints && (options_.resume || wrote_checkpoint_)) {
      if (options_.partial) // for variables that the checkpoint does not have
        session_.run(options_.initializer, {}, {}, where_);
      restored = saver_access::restore(*state_.checkpoints, session_, options_.partial,
                                       "training_options::partial", error_kind::failed_precondition,
                                       where_);
    }
    guard.unlock();
    runs_left_ = restored ? runs_left_in(restored->notes) : std::map<std::string, int64_t>{};
    if (restored)
      state_.report_differences(*restored);
    if (!restored && options_.save_input) // queues of an earlier run may be suspended
      session_.reset(where_);
    if (!restored)
      session_.run(options_.initializer, {}, {}, where_);
    initialize_local();
    if (!has_begun_ && restored)
      restored_from_ = restored->step;
    state_.report_event(
        {.kind = restored ? training_event_kind::restored : training_event_kind::initialized,
         .step = restored ? restored->step : 0,
         .text = restored ? restored->path : ""});
    run_lock lock{state_.mutex};
    done_ = next_ = saved_step_ = next_summary_ = restored ? restored->step : 0;
    saved_at_ = clock::now();
    ++beginnings_;
  }

  void prepare() {
    prepared_.clear();
    for (const auto& kind : state_.steps) {
      auto fetches = kind.loss ? std::vector{kind.loss} : std::vector<edge>{};
      prepared step_variants{session_.prepare(kind.feeds, fetches, kind.train, where_), {}};
      const auto& summary = options_.summary;
      if (state_.summary_file && summary &&
          &summary.node->graph() == &kind.train.front().node->graph()) {
        fetches.push_back(summary);
        step_variants.summarizing = session_.prepare(kind.feeds, fetches, kind.train, where_);
      }
      prepared_.push_back(std::move(step_variants));
    }
  }

  void stop(training_end reason) {
    if (!std::exchange(stopped_, true))
      end_reason_ = reason;
    state_.changed.notify_all();
  }

  void give_up(std::exception_ptr cause) {
    if (!problem_)
      problem_ = std::move(cause);
    stopped_ = true;
    state_.changed.notify_all();
  }

  struct prepared { // variants of one kind of step
    step plain;
    std::optional<step> summarizing;
  };

  state& state_;
  const training_options& options_;
  session& session_;
  const location where_;
  const clock::time_point begin_ = clock::now();
  size_t threads_ = 0, running_ = 0;
  std::mutex saver_mutex_;
  std::optional<coordinator> input_;
  std::map<std::string, int64_t> runs_left_; // of runners, from the restored checkpoint
  std::vector<prepared> prepared_;           // changes only while no step runs
  bool has_begun_ = false;                   // changes only while no step runs
  run_initialization initialization_;
  std::atomic<int64_t> traced_{0};

  int64_t next_ = 0, done_ = 0, count_ = 0; // steps: the next one; completed in total; in this run
  bool paused_ = false, saving_ = false;    // a thread holds the pause; a thread saves
  uint64_t recoveries_ = 0, beginnings_ = 0;
  failure_streak step_failures_, callback_failures_, summary_failures_, save_failures_;
  int retries_ = 0;                            // total
  bool write_pending_ = false;                 // guarded by saver_mutex_
  std::atomic<bool> wrote_checkpoint_ = false; // a checkpoint of this run is complete
  uint64_t last_step_id_ = 0;                  // counts attempts of steps that have begun
  std::set<uint64_t> under_way_;               // ids of steps that have not ended
  uint64_t first_bad_id_ = UINT64_MAX;         // the first step with a NaN or infinite loss
  uint64_t read_until_id_ = 0; // later steps have not contributed to the checkpoint being written
  std::atomic<int> summary_has_loss_{0}; // 1: yes, -1: no, 0: unknown
  int64_t saved_step_ = 0, restored_from_ = -1, next_summary_ = 0;
  clock::time_point saved_at_ = begin_;
  double loss_ = 0;
  bool stopped_ = false, values_unknown_ = false;
  training_end end_reason_ = training_end::stop_requested;
  std::exception_ptr problem_;
  std::vector<step_statistics> trace_;
};

void training_run::state::open_summaries(location where) {
  if (options.summaries.empty() || summary_file)
    return;
  summary_file.emplace(options.summaries,
                       summary_options{.take_over = options.checkpoint_options.take_over}, where);
  summary_file->add_graph(graph, where);
}

training_report training_run::state::run(session& in, location where) {
  struct lock_guard_of_folder { // releases the folder at the end of the run
    saver* checkpoints;
    ~lock_guard_of_folder() {
      if (!checkpoints)
        return;
      saver_access::watch(*checkpoints, {});
      saver_access::use_lock(*checkpoints, nullptr);
    }
  } held{checkpoints ? &*checkpoints : nullptr};
  if (checkpoints) {
    auto context = concat("training_run (", to_string(where), ')');
    if (auto folder = make_folder_durably(real_files(), options.checkpoints); !folder)
      throw error{std::move(folder).with_context(context)};
    auto lock =
        saver_access::lock_folder(options.checkpoints, options.checkpoint_options, "training_run",
                                  "saver_options::take_over (troupe train --take-over)", where);
    if (!lock)
      throw error{status{lock.status()}.with_context(context)};
    saver_access::use_lock(*checkpoints, *std::move(lock));
  }
  open_summaries(where);
  return loop{*this, in, where}.run();
}

} // namespace troupe
