#include "troupe/api/train/input/coordinator.hpp"
// Runs queue runners, and suspends and stops them together.

#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/durations.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/internal/retries.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace troupe {

using namespace std::chrono_literals;

namespace {

constexpr auto resume_interval = 100ms;

// Returns the deadline of a wait. The timeout is limited to a century, the range of the clock.
std::chrono::steady_clock::time_point end_of(std::chrono::milliseconds timeout) {
  constexpr std::chrono::hours century{100 * 365 * 24};
  return std::chrono::steady_clock::now() +
         std::clamp<std::chrono::milliseconds>(timeout, 0ms, century);
}

void check_timeout(const char* function, std::chrono::milliseconds timeout,
                   std::source_location where) {
  if (auto valid = check_duration("timeout", timeout); !valid)
    reject(function, where, valid.message());
}

} // namespace

struct coordinator::state {
  // The coordinator's interface to a runner.
  struct runner {
    std::string name;
    virtual ~runner() = default;
    virtual void stop() = 0;
    virtual void run(size_t index) = 0;
    virtual int64_t runs_left() const = 0;
  };
  using runner_ptr = std::shared_ptr<runner>;

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> stops{false};
  std::optional<error> cause;
  std::vector<runner_ptr> running; // they refer to this state, until they have ended
  std::map<std::string, std::pair<step, step>> queues; // steps that suspend and resume each queue
  std::map<std::string, int64_t> left, limits; // runs left of ended runners; limits of later ones
  // The thread in run_while_suspended(). Only one at a time: otherwise runs would begin when the
  // first caller ends, while the second still saves.
  std::optional<std::thread::id> suspended_by;
  // While the runners are suspended, runs are parked instead of started.
  bool suspended = false;
  uint64_t suspensions = 0;
  size_t under_way = 0; // number of runs, and of steps that close queues
  std::vector<std::pair<runner_ptr, size_t>> parked;

  void stop(const error* reason) {
    std::vector<runner_ptr> stopping;
    std::vector<std::pair<runner_ptr, size_t>> resumed;
    {
      std::lock_guard guard{mutex};
      if (reason && !cause && reason->kind() != error_kind::out_of_range)
        cause = *reason;
      if (stops.exchange(true))
        return;
      stopping = running;
      resumed.swap(parked);
    }
    changed.notify_all();
    for (const auto& stopped_runner : stopping)
      stopped_runner->stop();
    for (const auto& [parked_runner, index] : resumed) // the run ends because of `stops`
      parked_runner->run(index);
  }

  // Registers a queue under a unique runner name. The queue may outlive the runner.
  std::string add(const std::string& base_name, std::pair<step, step> suspend_and_resume) {
    std::lock_guard guard{mutex};
    auto name = base_name;
    for (int suffix = 2; queues.contains(name); ++suffix)
      name = concat(base_name, '/', suffix);
    queues.emplace(name, std::move(suspend_and_resume));
    return name;
  }

  int64_t limit_of(const std::string& name, int64_t limit) const {
    std::lock_guard guard{mutex};
    auto entry = limits.find(name);
    return entry == limits.end() || limit < 0 ? limit : entry->second;
  }

  void add_running(const runner_ptr& started) {
    {
      std::lock_guard guard{mutex};
      running.push_back(started);
      if (!stops)
        return;
    }
    started->stop();
  }

  void remove_running(const runner* ended) {
    runner_ptr removed;
    {
      std::lock_guard guard{mutex};
      auto position = std::ranges::find(running, ended, &runner_ptr::get);
      if (position != running.end()) {
        removed = std::move(*position);
        running.erase(position);
        left[removed->name] = removed->runs_left();
      }
    }
    changed.notify_all();
  }

  // Registers a run, and returns the number of suspensions so far. While suspended, parks the run
  // instead, and returns nullopt.
  std::optional<uint64_t> begin_or_park(const runner_ptr& candidate, size_t index) {
    std::lock_guard guard{mutex};
    if (suspended && !stops) {
      parked.emplace_back(candidate, index);
      return {};
    }
    ++under_way;
    return suspensions;
  }

  void begin_closing() {
    std::lock_guard guard{mutex};
    ++under_way;
  }

  bool suspended_since(uint64_t earlier_count) const {
    std::lock_guard guard{mutex};
    return suspensions != earlier_count;
  }

  void end_run() {
    {
      std::lock_guard guard{mutex};
      --under_way;
    }
    changed.notify_all();
  }

  std::string running_names() const {
    std::string text;
    for (const auto& active : running)
      text += concat(text.empty() ? "" : ", ", active->name);
    return text;
  }
};

coordinator::coordinator() : state_(std::make_shared<state>()) {}

coordinator::~coordinator() {
  request_stop();
  std::unique_lock lock{state_->mutex};
  state_->changed.wait_for(lock, 5s, [&] { return state_->running.empty(); });
}

bool coordinator::should_stop() const noexcept { return state_->stops; }

void coordinator::request_stop() { state_->stop(nullptr); }

void coordinator::request_stop(const error& cause) { state_->stop(&cause); }

bool coordinator::wait_for_stop(std::chrono::milliseconds timeout, location where) {
  check_timeout("wait_for_stop", timeout, where);
  std::unique_lock lock{state_->mutex};
  return state_->changed.wait_until(lock, end_of(timeout), [&] { return state_->stops.load(); });
}

void coordinator::join(std::chrono::milliseconds timeout, location where) {
  check_timeout("join", timeout, where);
  std::unique_lock lock{state_->mutex};
  auto have_ended =
      state_->changed.wait_until(lock, end_of(timeout), [&] { return state_->running.empty(); });
  if (state_->cause)
    throw *state_->cause;
  if (have_ended)
    return;
  throw error{failure(error_kind::deadline_exceeded, "join (", to_string(where),
                      "): these runners have not ended within ", timeout.count(), " ms: ",
                      state_->running_names(), state_->stops ? "" : "; no stop was requested")};
}

void coordinator::run_while_suspended(const std::function<void()>& act,
                                      std::chrono::milliseconds timeout, location where) {
  need_function("run_while_suspended", where, act, "the callback");
  check_timeout("run_while_suspended", timeout, where);
  auto deadline = end_of(timeout);
  const auto this_thread = std::this_thread::get_id();
  {
    std::unique_lock lock{state_->mutex};
    if (state_->suspended_by == this_thread) {
      lock.unlock();
      return act();
    }
    if (!state_->changed.wait_until(lock, deadline, [&] { return !state_->suspended_by; }))
      throw error{failure(error_kind::deadline_exceeded, "run_while_suspended (", to_string(where),
                          "): another thread has suspended the runners for more than ",
                          timeout.count(), " ms")};
    state_->suspended_by = this_thread;
  }
  struct suspension {
    explicit suspension(state& shared) : shared_state(shared) {}
    suspension(const suspension&) = delete;
    ~suspension() {
      {
        std::lock_guard guard{shared_state.mutex};
        shared_state.suspended_by.reset();
      }
      shared_state.changed.notify_all();
    }
    state& shared_state;
  } own_suspension{*state_};
  try {
    suspend(deadline, timeout, where);
    act();
  } catch (...) {
    try {
      resume(timeout, where);
    } catch (const error&) { // the first error is rethrown
    }
    throw;
  }
  resume(timeout, where);
}

void coordinator::suspend(std::chrono::steady_clock::time_point deadline,
                          std::chrono::milliseconds timeout, location where) {
  std::vector<step> suspending;
  {
    std::lock_guard guard{state_->mutex};
    state_->suspended = true;
    ++state_->suspensions;
    for (const auto& [name, steps] : state_->queues)
      suspending.push_back(steps.first);
  }
  for (auto& suspending_step : suspending)
    suspending_step.run({}, {.deadline = deadline}, where);
  std::unique_lock lock{state_->mutex};
  if (!state_->changed.wait_until(lock, deadline, [&] { return state_->under_way == 0; }))
    throw error{failure(error_kind::deadline_exceeded, "run_while_suspended (", to_string(where),
                        "): the running steps of these runners have not ended within ",
                        timeout.count(), " ms: ", state_->running_names())};
}

// A queue that stays suspended returns no elements and accepts any number of them. If its task
// cannot be reached before the timeout, a stop is requested.
void coordinator::resume(std::chrono::milliseconds timeout, location where) {
  std::vector<step> resuming;
  std::vector<std::pair<state::runner_ptr, size_t>> parked;
  {
    std::lock_guard guard{state_->mutex};
    state_->suspended = false;
    parked.swap(state_->parked);
    for (const auto& [name, steps] : state_->queues)
      resuming.push_back(steps.second);
  }
  std::optional<error> problem;
  auto deadline = end_of(timeout);
  for (auto& resuming_step : resuming)
    for (auto again = true; again;)
      try {
        resuming_step.run(
            {}, {.deadline = std::max(deadline, std::chrono::steady_clock::now() + 1s)}, where);
        again = false;
      } catch (const error& cause) {
        again = may_pass(cause) && std::chrono::steady_clock::now() < deadline &&
                !wait_for_stop(resume_interval);
        if (!again && !problem)
          problem = cause;
      }
  if (problem && !should_stop())
    request_stop(*problem);
  for (const auto& [parked_runner, index] : parked)
    parked_runner->run(index);
  if (problem)
    throw *problem;
}

std::map<std::string, int64_t> coordinator::runs_left() const {
  std::lock_guard guard{state_->mutex};
  auto counts = state_->left;
  for (const auto& active : state_->running)
    counts[active->name] = active->runs_left();
  return counts;
}

void coordinator::restore_runs_left(std::map<std::string, int64_t> runs_left) {
  std::lock_guard guard{state_->mutex};
  state_->limits = std::move(runs_left);
}

std::vector<std::string> coordinator::running() const {
  std::lock_guard guard{state_->mutex};
  std::vector<std::string> names;
  for (const auto& active : state_->running)
    names.push_back(active->name);
  return names;
}

// State shared by the runs of a runner; destroyed after the last run.
struct queue_runner::loop final : coordinator::state::runner,
                                  std::enable_shared_from_this<queue_runner::loop> {
  std::shared_ptr<coordinator::state> coordinator_state;
  std::vector<step> enqueues;
  std::optional<step> close, cancel;
  std::atomic<size_t> active{0};
  std::atomic<int64_t> left{-1}; // runs; negative: no limit
  bool limited = false, keeps_open = false;

  int64_t runs_left() const override { return limited ? std::max<int64_t>(left, 0) : int64_t{-1}; }

  void run(size_t index) override {
    auto suspensions = coordinator_state->begin_or_park(shared_from_this(), index);
    if (!suspensions)
      return;
    if (coordinator_state->stops || (limited && left.fetch_sub(1) <= 0)) {
      leave();
      return coordinator_state->end_run();
    }
    // The run may wait for room in the queue without a timeout; closing the queue ends it.
    begin(enqueues[index],
          [index, suspension_count = *suspensions](loop& self, const status& outcome) {
            self.ran(index, outcome, suspension_count);
            self.coordinator_state->end_run();
          },
          {.deadline = std::chrono::steady_clock::time_point::max()});
  }

  // A closed session fails the step immediately.
  template <class Then>
  void begin(step& step_to_run, Then then, const run_options& options = {}) {
    try {
      step_to_run.run_async(
          {},
          [self = shared_from_this(), then](const result<std::vector<tensor>>& outcome) {
            then(*self, outcome.status());
          },
          options);
    } catch (const error& cause) {
      then(*this, failure(error_kind::cancelled, cause.what()));
    }
  }

  void ran(size_t index, const status& outcome, uint64_t suspensions) {
    switch (outcome.kind()) {
      case error_kind::ok: return run(index);
      case error_kind::cancelled: // the queue was closed; or suspended, then the run is repeated
        if (!coordinator_state->stops && coordinator_state->suspended_since(suspensions)) {
          if (limited)
            ++left;
          return run(index);
        }
        return leave();
      case error_kind::out_of_range: // the end of the data
        return leave();
      default: fail(outcome); return leave();
    }
  }

  // The last run that ends closes the queue.
  void leave() {
    if (active.fetch_sub(1) > 1)
      return;
    if (keeps_open && !coordinator_state->stops)
      return coordinator_state->remove_running(this);
    coordinator_state->begin_closing();
    begin(coordinator_state->stops ? *cancel : *close, [](loop& self, const status& closed) {
      // A closed session has no queue to close.
      if (!closed && closed.kind() != error_kind::cancelled)
        self.fail(closed);
      self.coordinator_state->remove_running(&self);
      self.coordinator_state->end_run();
    });
  }

  void stop() override {
    begin(*cancel, [](loop&, const status&) {});
  }

  void fail(const status& cause) const {
    error reported{cause};
    coordinator_state->stop(&reported);
  }
};

queue_runner::queue_runner(edge queue, std::vector<node*> enqueues, location where)
    : name_(queue ? queue.node->name() : ""), queue_(queue), enqueues_(std::move(enqueues)) {
  if (queue.is_empty() || queue.node->op().state_kind != resource::queue)
    reject("queue_runner", where, "needs a queue");
  if (enqueues_.empty() || std::ranges::find(enqueues_, nullptr) != enqueues_.end())
    reject("queue_runner", where, "needs nodes that fill queue '", name_, "'");
  close_ = queue_close(queue, {}, name_ + "/close", where);
  cancel_ = queue_close(queue, {.cancel_pending_enqueues = true}, name_ + "/cancel", where);
  suspend_ = queue_suspend(queue, {}, name_ + "/suspend", where);
  resume_ = queue_suspend(queue, {.suspended = false}, name_ + "/resume", where);
}

queue_runner& queue_runner::also_close(const std::vector<edge>& others, location where) {
  std::vector<node*> close{close_}, cancel{cancel_}, suspend{suspend_}, resume{resume_};
  for (const auto& other : others) {
    if (other.is_empty() || other.node->op().state_kind != resource::queue)
      reject("queue_runner", where, "can close queues only");
    auto name = other.node->name();
    close.push_back(queue_close(other, {}, name + "/close", where));
    cancel.push_back(
        queue_close(other, {.cancel_pending_enqueues = true}, name + "/cancel", where));
    suspend.push_back(queue_suspend(other, {}, name + "/suspend", where));
    resume.push_back(queue_suspend(other, {.suspended = false}, name + "/resume", where));
  }
  auto& in = queue_.node->graph();
  close_ = detail::add_group(in, close, name_ + "/close_all", where);
  cancel_ = detail::add_group(in, cancel, name_ + "/cancel_all", where);
  suspend_ = detail::add_group(in, suspend, name_ + "/suspend_all", where);
  resume_ = detail::add_group(in, resume, name_ + "/resume_all", where);
  return *this;
}

void queue_runner::start(session& in, coordinator& runners, location where) const {
  auto started = std::make_shared<loop>();
  started->coordinator_state = runners.state_;
  for (auto* enqueue : enqueues_)
    started->enqueues.push_back(in.prepare({}, {}, {enqueue}, {.low_priority = true}, where));
  started->close = in.prepare({}, {}, {close_}, where);
  started->cancel = in.prepare({}, {}, {cancel_}, where);
  auto suspend = in.prepare({}, {}, {suspend_}, where),
       resume = in.prepare({}, {}, {resume_}, where);
  started->keeps_open = keeps_open_;
  started->active = enqueues_.size();
  started->name = runners.state_->add(name_, {suspend, resume});
  auto limit = runners.state_->limit_of(started->name, limit_);
  started->limited = limit >= 0;
  started->left = limit;
  runners.state_->add_running(started);
  for (size_t i = 0; i < enqueues_.size(); ++i)
    started->run(i);
}

} // namespace troupe
