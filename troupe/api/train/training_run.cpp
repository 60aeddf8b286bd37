#include "troupe/api/train/training_run.hpp"

#include "troupe/api/ops.hpp"
#include "troupe/api/reject.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace troupe {
namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

constexpr seconds longest_pause{5};

bool may_pass(const error& why) {
  return why.kind() == error_kind::unavailable || why.kind() == error_kind::aborted ||
         why.kind() == error_kind::deadline_exceeded;
}

double number_in(const tensor& value) {
  switch (value.type()) {
    case dtype::f16: return double{static_cast<float>(value.data<float16>()[0])};
    case dtype::bf16: return double{static_cast<float>(value.data<bfloat16>()[0])};
    case dtype::f64: return value.data<double>()[0];
    default: return double{value.data<float>()[0]};
  }
}

// For each variable, whether it has a value.
std::vector<edge> add_checks(graph_builder& to, std::source_location where) {
  std::vector<edge> made;
  std::vector<edge> variables;
  for (const auto& one : to.nodes())
    if (one->op().makes == resource::variable && !one->op().per_step)
      variables.push_back({one.get(), 0});
  for (const auto& one : variables) {
    auto on = to.on(one.node->device(), where);
    made.push_back(one.node->op().outputs[0].handle ? var_is_initialized_op(one, {}, where)
                                                    : is_variable_initialized(one, {}, where));
  }
  return made;
}

void check(const training_step& one, std::source_location where) {
  if (one.train.empty())
    reject("training_run", where, "a step needs something to train");
  if (one.at_once < 1 || one.at_once > 1024)
    reject("training_run", where, "at_once must be 1 to 1024, got ", one.at_once);
  if (one.loss && !floating.contains(one.loss.type()))
    reject("training_run", where, "the loss must be a floating-point number, got ",
           one.loss.type());
  if (one.loss && !one.loss.dims().compatible(shape{}))
    reject("training_run", where, "the loss must be one number, got shape ", one.loss.dims());
}

// A step that a thread has taken on.
struct ticket {
  int64_t number = -1;
  bool under_way = false;
  bool again = false; // it failed, and is to run with the same number
  bool summarizes = false;
  uint64_t recoveries = 0; // when it was taken
  uint64_t beginning = 0;
};

} // namespace

std::string_view to_string(training_end why) noexcept {
  switch (why) {
    case training_end::last_step: return "the last step was done";
    case training_end::time_over: return "the time is over";
    case training_end::asked: return "it was asked to";
    case training_end::condition: return "the condition was met";
    case training_end::data_ended: return "the data ended";
    case training_end::not_a_number: return "the loss is not a number";
  }
  return "unknown";
}

struct training_run::state {
  graph_builder& graph;
  std::vector<training_step> steps;
  training_options options;
  std::vector<edge> initialized = {};
  std::optional<saver> saves = {};
  std::optional<summary_writer> shown = {};
  std::mutex mutex = {};
  std::condition_variable changed = {};
  bool asked = false;

  class loop;
};

// One run. What threads share is guarded by the run's mutex.
class training_run::state::loop {
public:
  loop(state& of, session& in, location where)
      : of_(of), options_(of.options), in_(in), where_(where) {
    for (const auto& one : of.steps)
      threads_ += static_cast<size_t>(one.at_once);
  }

  training_report run() {
    {
      std::unique_lock lock{of_.mutex};
      paused_ = true;
      go_on(lock, {});
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
    input_.reset();
    if (problem_)
      std::rethrow_exception(problem_);
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
    if (std::exchange(mine.under_way, false))
      --running_;
    of_.changed.notify_all();
  }

  void run_step(ticket& mine, size_t replica) {
    std::vector<tensor> feeds;
    if (options_.batch) {
      auto batch = options_.batch(mine.number);
      if (!batch)
        throw error{failure(error_kind::out_of_range, "the data has ended")};
      feeds = *std::move(batch);
    }
    auto& [plain, summarizing] = prepared_[replica];
    step_statistics statistics;
    auto traced = traced_.fetch_add(1) < options_.trace_steps;
    auto fetched = (mine.summarizes && summarizing ? *summarizing : plain)
                       .run(feeds, {.statistics = traced ? &statistics : nullptr}, where_);
    training_progress news{.replica = replica};
    if (of_.steps[replica].loss)
      news.loss = number_in(fetched.front());
    auto saves = note(mine, news, traced ? &statistics : nullptr);
    if (options_.on_step)
      options_.on_step(news);
    if (mine.summarizes)
      show(fetched, news, summarizing.has_value());
    if (saves)
      save();
  }

  // A step has ended well. Returns whether a checkpoint is due, which is the caller's to write.
  bool note(ticket& mine, training_progress& news, step_statistics* statistics) {
    auto now = clock::now();
    auto elapsed = seconds{now - begin_}.count();
    lock_of_all lock{of_.mutex};
    leave(mine);
    attempts_ = 0;
    news.step = ++done_;
    news.steps_per_second = static_cast<double>(++count_) / std::max(elapsed, 1e-9);
    loss_ = news.loss;
    if (statistics)
      trace_.push_back(std::move(*statistics));
    if (options_.stop_at_nan && std::isnan(news.loss))
      stop(training_end::not_a_number);
    else if (options_.when && options_.when(news))
      stop(training_end::condition);
    else if (options_.time_limit > 0 && elapsed >= options_.time_limit)
      stop(training_end::time_over);
    if (!of_.saves || saving_ || stopped_ || of_.asked || done_ == options_.last_step)
      return false;
    auto by_steps = options_.checkpoint_steps;
    auto by_time = options_.checkpoint_seconds;
    saving_ = (by_steps > 0 && done_ - saved_step_ >= by_steps) ||
              (by_time > 0 && seconds{now - saved_at_}.count() >= by_time);
    return saving_;
  }

  void show(const std::vector<tensor>& fetched, const training_progress& news, bool has_summary) {
    auto& to = *of_.shown;
    if (has_summary)
      to.add(fetched.back(), news.step, where_);
    else
      to.add("loss", static_cast<float>(news.loss), news.step, where_);
    to.add("steps_per_second", static_cast<float>(news.steps_per_second), news.step, where_);
  }

  // -- checkpoints

  // What was written before may have failed for good; what is read now may pass.
  void save() {
    lock_of_all lock{of_.mutex};
    auto pauses = options_.pause_to_checkpoint || threads_ == 1;
    if (pauses)
      pause(lock);
    auto at = done_;
    lock.unlock();
    std::exception_ptr broken, unread;
    try {
      std::lock_guard guard{saver_mutex_};
      of_.saves->wait(where_);
      try {
        of_.saves->save_async(in_, at, where_);
      } catch (...) {
        unread = std::current_exception();
      }
    } catch (...) {
      broken = std::current_exception();
    }
    if (!broken && !unread)
      tell({.what = training_event::kind::saving, .step = at});
    lock.lock();
    saving_ = false;
    if (pauses)
      paused_ = false;
    of_.changed.notify_all();
    if (broken)
      return give_up(broken);
    if (unread)
      std::rethrow_exception(unread);
    saved_step_ = at;
    saved_at_ = clock::now();
    saves_ours_ = true;
  }

  training_report finish() {
    training_report made{.step = done_,
                         .why = why_,
                         .loss = loss_,
                         .restored_from = restored_from_,
                         .retries = retries_,
                         .trace = std::move(trace_)};
    if (of_.shown)
      of_.shown->flush(where_);
    if (!of_.saves)
      return made;
    of_.saves->wait(where_);
    if (why_ != training_end::not_a_number && !unsound_ &&
        (done_ != saved_step_ || (!saves_ours_ && restored_from_ < 0))) {
      made.checkpoint = of_.saves->save(in_, done_, where_);
      tell({.what = training_event::kind::saved, .step = done_, .text = made.checkpoint});
      return made;
    }
    checkpoint_folder of{real_files(), options_.checkpoints};
    if (auto latest = of.latest())
      made.checkpoint = of.path_of(*latest);
    return made;
  }

  // -- errors

  // The end of the data, something that may pass, or the end of the run.
  void failed(ticket& mine, const error& why) {
    lock_of_all lock{of_.mutex};
    mine.again = mine.under_way;
    leave(mine);
    if (stopped_)
      return;
    auto ends = why.kind() == error_kind::out_of_range;
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
      go_on(lock, cause);
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
  void go_on(lock_of_all& lock, std::optional<error> cause) {
    for (;;) {
      if (cause && attempts_ == 0)
        first_cause_ = cause;
      if (cause && !wait_to_retry(lock, *cause))
        return;
      lock.unlock();
      auto next = try_again(cause);
      lock.lock();
      if (problem_)
        return;
      if (!next) {
        ++recoveries_;
        if (cause)
          tell({.what = training_event::kind::recovered, .step = done_});
        return;
      }
      if (!may_pass(*next))
        return give_up(std::make_exception_ptr(*next));
      cause = next;
    }
  }

  bool wait_to_retry(lock_of_all& lock, const error& cause) {
    if (attempts_ >= options_.retries) {
      const auto& first = *first_cause_;
      give_up(
          std::make_exception_ptr(error{first.kind(), concat(first.what(), "; gave up after ",
                                                             attempts_, " attempts to go on")}));
      return false;
    }
    auto pause = seconds{options_.retry_seconds} * std::pow(2.0, attempts_);
    ++attempts_;
    ++retries_;
    tell({.what = training_event::kind::retrying,
          .step = done_,
          .text = cause.what(),
          .cause = first_cause_,
          .retry = attempts_});
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
      auto input_gone = input_ && input_->should_stop();
      auto anew = !began_ || input_gone || lost_state();
      if (!anew && cause && cause->kind() == error_kind::failed_precondition)
        return cause;
      if (anew)
        begin();
      prepare();
      if (options_.input && (anew || !input_)) {
        input_.emplace();
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

  bool lost_state() {
    auto flags = in_.run({}, of_.initialized, {}, {}, where_);
    return std::ranges::any_of(flags, [](const tensor& one) { return !*one.data<bool>(); });
  }

  // Gives all variables their values: those of a checkpoint, or those that they begin with.
  void begin() {
    if (options_.input && began_) {
      input_.reset();
      in_.reset(where_);
    }
    std::optional<restore_report> found;
    if (of_.saves && (options_.resume || saves_ours_)) {
      std::lock_guard guard{saver_mutex_};
      found = of_.saves->restore(in_, where_);
    }
    if (!found)
      in_.run(options_.initializer, {}, {}, where_);
    if (!began_ && found)
      restored_from_ = found->step;
    tell({.what = found ? training_event::kind::restored : training_event::kind::initialized,
          .step = found ? found->step : 0,
          .text = found ? found->path : ""});
    std::lock_guard guard{of_.mutex};
    done_ = next_ = saved_step_ = next_summary_ = found ? found->step : 0;
    saved_at_ = clock::now();
    ++beginnings_;
  }

  void prepare() {
    prepared_.clear();
    for (const auto& one : of_.steps) {
      std::vector<edge> fetches;
      if (one.loss)
        fetches.push_back(one.loss);
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

  void tell(const training_event& what) {
    if (!options_.on_event)
      return;
    std::lock_guard guard{telling_};
    options_.on_event(what);
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
  size_t threads_ = 0;
  std::mutex saver_mutex_, telling_;
  std::optional<coordinator> input_;
  std::vector<prepared> prepared_; // changes while no step runs
  bool began_ = false;             // while no step runs
  std::atomic<int64_t> traced_{0};

  int64_t next_ = 0, done_ = 0, count_ = 0; // steps: the next, and done in all and by this run
  size_t running_ = 0;
  bool paused_ = false; // one of the threads has it to itself
  uint64_t recoveries_ = 0, beginnings_ = 0;
  int attempts_ = 0, retries_ = 0;   // in a row, and all together
  std::optional<error> first_cause_; // of those in a row
  bool saving_ = false, saves_ours_ = false;
  int64_t saved_step_ = 0, restored_from_ = -1, next_summary_ = 0;
  clock::time_point saved_at_ = begin_;
  double loss_ = 0;
  bool stopped_ = false, unsound_ = false;
  training_end why_ = training_end::asked;
  std::exception_ptr problem_;
  std::vector<step_statistics> trace_;
};

training_run::training_run(graph_builder& of, std::vector<training_step> steps,
                           training_options options, location where)
    : state_(new state{of, std::move(steps), std::move(options)}) {
  auto& mine = *state_;
  if (mine.steps.empty())
    reject("training_run", where, "there are no steps to run");
  for (const auto& one : mine.steps)
    check(one, where);
  const auto& how = mine.options;
  if (how.retries < 0 || how.retry_seconds < 0 || how.summary_steps < 1)
    reject("training_run", where, "retries and retry_seconds must not be negative, summary_steps ",
           "must be at least 1");
  if (how.checkpoints.empty() && (how.checkpoint_steps > 0 || how.checkpoint_seconds > 0))
    reject("training_run", where, "checkpoints need a folder");
  if (how.summary && how.summaries.empty())
    reject("training_run", where, "a summary needs a folder of event files");
  if (!mine.options.initializer)
    mine.options.initializer = of.initializer(where);
  mine.initialized = add_checks(of, where);
  if (mine.initialized.empty())
    reject("training_run", where, "the graph has no variables");
  if (!how.checkpoints.empty())
    mine.saves.emplace(of, how.checkpoints, how.keep, where);
}

training_run::~training_run() = default;

training_report training_run::run(session& in, location where) {
  auto& mine = *state_;
  if (!mine.options.summaries.empty() && !mine.shown) {
    mine.shown.emplace(mine.options.summaries, where);
    mine.shown->add_graph(mine.graph, where);
  }
  return state::loop{mine, in, where}.run();
}

void training_run::request_stop() noexcept {
  std::lock_guard guard{state_->mutex};
  state_->asked = true;
  state_->changed.notify_all();
}

} // namespace troupe
