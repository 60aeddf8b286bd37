#include "troupe/api/train/input/coordinator.hpp"

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

// The end of a wait. A longer patience than a century would be beyond what the clock counts.
std::chrono::steady_clock::time_point end_of(std::chrono::milliseconds patience) {
  constexpr std::chrono::hours century{100 * 365 * 24};
  return std::chrono::steady_clock::now() +
         std::clamp<std::chrono::milliseconds>(patience, 0ms, century);
}

void check_patience(const char* function, std::chrono::milliseconds patience,
                    std::source_location where) {
  if (auto may = check_duration("patience", patience); !may)
    reject(function, where, may.message());
}

} // namespace

struct coordinator::state {
  // What a runner is to its coordinator.
  struct runner {
    std::string name;
    virtual ~runner() = default;
    virtual void stop() = 0;
    virtual void run(size_t which) = 0;
    virtual int64_t runs_left() const = 0;
  };
  using runner_ptr = std::shared_ptr<runner>;

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> stops{false};
  std::optional<error> cause;
  std::vector<runner_ptr> running; // refer to this in turn, until they have ended
  std::map<std::string, std::pair<step, step>> queues; // how to suspend and resume those of all
  std::map<std::string, int64_t> left, limits; // of runners that have ended; of those to start
  // Which thread is in while_suspended(). With two at once, the end of the first would let runs
  // begin while the second still saves.
  std::optional<std::thread::id> suspended_by;
  // While it is suspended, runs wait here instead of beginning.
  bool suspended = false;
  uint64_t suspensions = 0;
  size_t under_way = 0; // runs, and steps that close queues
  std::vector<std::pair<runner_ptr, size_t>> parked;

  void stop(const error* why) {
    std::vector<runner_ptr> told;
    std::vector<std::pair<runner_ptr, size_t>> waiting;
    {
      std::lock_guard guard{mutex};
      if (why && !cause && why->kind() != error_kind::out_of_range)
        cause = *why;
      if (stops.exchange(true))
        return;
      told = running;
      waiting.swap(parked);
    }
    changed.notify_all();
    for (const auto& one : told)
      one->stop();
    for (const auto& [one, which] : waiting) // finds that it is to end
      one->run(which);
  }

  // Gives a runner a name of its own. Its queue may outlive it.
  std::string add(const std::string& wanted, std::pair<step, step> how) {
    std::lock_guard guard{mutex};
    auto name = wanted;
    for (int other = 2; queues.contains(name); ++other)
      name = concat(wanted, '/', other);
    queues.emplace(name, std::move(how));
    return name;
  }

  int64_t limit_of(const std::string& name, int64_t limit) const {
    std::lock_guard guard{mutex};
    auto known = limits.find(name);
    return known == limits.end() || limit < 0 ? limit : known->second;
  }

  void begins(const runner_ptr& one) {
    {
      std::lock_guard guard{mutex};
      running.push_back(one);
      if (!stops)
        return;
    }
    one->stop();
  }

  void ended(const runner* which) {
    runner_ptr gone;
    {
      std::lock_guard guard{mutex};
      auto it = std::ranges::find(running, which, &runner_ptr::get);
      if (it != running.end()) {
        gone = std::move(*it);
        running.erase(it);
        left[gone->name] = gone->runs_left();
      }
    }
    changed.notify_all();
  }

  // Returns whether a run may begin; else it does so when all go on.
  std::optional<uint64_t> may_run(const runner_ptr& one, size_t which) {
    std::lock_guard guard{mutex};
    if (suspended && !stops) {
      parked.emplace_back(one, which);
      return {};
    }
    ++under_way;
    return suspensions;
  }

  void run_begins() {
    std::lock_guard guard{mutex};
    ++under_way;
  }

  bool suspended_since(uint64_t when) const {
    std::lock_guard guard{mutex};
    return suspensions != when;
  }

  void run_ended() {
    {
      std::lock_guard guard{mutex};
      --under_way;
    }
    changed.notify_all();
  }

  std::string names() const {
    std::string found;
    for (const auto& one : running)
      found += concat(found.empty() ? "" : ", ", one->name);
    return found;
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

void coordinator::request_stop(const error& why) { state_->stop(&why); }

bool coordinator::wait_for_stop(std::chrono::milliseconds patience, location where) {
  check_patience("wait_for_stop", patience, where);
  std::unique_lock lock{state_->mutex};
  return state_->changed.wait_until(lock, end_of(patience), [&] { return state_->stops.load(); });
}

void coordinator::join(std::chrono::milliseconds patience, location where) {
  check_patience("join", patience, where);
  std::unique_lock lock{state_->mutex};
  auto ended =
      state_->changed.wait_until(lock, end_of(patience), [&] { return state_->running.empty(); });
  if (state_->cause)
    throw *state_->cause;
  if (ended)
    return;
  throw error{failure(error_kind::deadline_exceeded, "join (", to_string(where),
                      "): these runners have not ended within ", patience.count(), " ms: ",
                      state_->names(), state_->stops ? "" : "; nobody has asked them to stop")};
}

void coordinator::while_suspended(const std::function<void()>& act,
                                  std::chrono::milliseconds patience, location where) {
  need_function("while_suspended", where, act, "what to call");
  check_patience("while_suspended", patience, where);
  auto until = end_of(patience);
  const auto here = std::this_thread::get_id();
  {
    std::unique_lock lock{state_->mutex};
    if (state_->suspended_by == here) {
      lock.unlock();
      return act();
    }
    if (!state_->changed.wait_until(lock, until, [&] { return !state_->suspended_by; }))
      throw error{failure(error_kind::deadline_exceeded, "while_suspended (", to_string(where),
                          "): another thread has suspended the runners for more than ",
                          patience.count(), " ms")};
    state_->suspended_by = here;
  }
  struct turn {
    explicit turn(state& in) : of(in) {}
    turn(const turn&) = delete;
    ~turn() {
      {
        std::lock_guard guard{of.mutex};
        of.suspended_by.reset();
      }
      of.changed.notify_all();
    }
    state& of;
  } taken{*state_};
  try {
    suspend(until, patience, where);
    act();
  } catch (...) {
    try {
      resume(patience, where);
    } catch (const error&) { // the first one is thrown
    }
    throw;
  }
  resume(patience, where);
}

void coordinator::suspend(std::chrono::steady_clock::time_point until,
                          std::chrono::milliseconds patience, location where) {
  std::vector<step> told;
  {
    std::lock_guard guard{state_->mutex};
    state_->suspended = true;
    ++state_->suspensions;
    for (const auto& [name, one] : state_->queues)
      told.push_back(one.first);
  }
  for (auto& one : told)
    one.run({}, {.deadline = until}, where);
  std::unique_lock lock{state_->mutex};
  if (!state_->changed.wait_until(lock, until, [&] { return state_->under_way == 0; }))
    throw error{failure(error_kind::deadline_exceeded, "while_suspended (", to_string(where),
                        "): the runs under way of these runners have not ended within ",
                        patience.count(), " ms: ", state_->names())};
}

// A queue that stays suspended gives nothing any more, and takes all that comes: whoever uses it is
// told to stop where its task cannot be reached for so long.
void coordinator::resume(std::chrono::milliseconds patience, location where) {
  std::vector<step> told;
  std::vector<std::pair<state::runner_ptr, size_t>> waiting;
  {
    std::lock_guard guard{state_->mutex};
    state_->suspended = false;
    waiting.swap(state_->parked);
    for (const auto& [name, one] : state_->queues)
      told.push_back(one.second);
  }
  std::optional<error> problem;
  auto until = end_of(patience);
  for (auto& one : told)
    for (auto again = true; again;)
      try {
        one.run({}, {.deadline = std::max(until, std::chrono::steady_clock::now() + 1s)}, where);
        again = false;
      } catch (const error& why) {
        again = may_pass(why) && std::chrono::steady_clock::now() < until &&
                !wait_for_stop(resume_interval);
        if (!again && !problem)
          problem = why;
      }
  if (problem && !should_stop())
    request_stop(*problem);
  for (const auto& [one, which] : waiting)
    one->run(which);
  if (problem)
    throw *problem;
}

std::map<std::string, int64_t> coordinator::runs_left() const {
  std::lock_guard guard{state_->mutex};
  auto found = state_->left;
  for (const auto& one : state_->running)
    found[one->name] = one->runs_left();
  return found;
}

void coordinator::go_on_from(std::map<std::string, int64_t> runs_left) {
  std::lock_guard guard{state_->mutex};
  state_->limits = std::move(runs_left);
}

std::vector<std::string> coordinator::running() const {
  std::lock_guard guard{state_->mutex};
  std::vector<std::string> names;
  for (const auto& one : state_->running)
    names.push_back(one->name);
  return names;
}

// What its runs under way share; goes with the last of them.
struct queue_runner::loop final : coordinator::state::runner,
                                  std::enable_shared_from_this<queue_runner::loop> {
  std::shared_ptr<coordinator::state> by;
  std::vector<step> enqueues;
  std::optional<step> close, cancel;
  std::atomic<size_t> active{0};
  std::atomic<int64_t> left{-1}; // runs; negative: no limit
  bool limited = false, stays_open = false;

  int64_t runs_left() const override { return limited ? std::max<int64_t>(left, 0) : int64_t{-1}; }

  void run(size_t which) override {
    auto suspensions = by->may_run(shared_from_this(), which);
    if (!suspensions)
      return;
    if (by->stops || (limited && left.fetch_sub(1) <= 0)) {
      leave();
      return by->run_ended();
    }
    // It may wait for room as long as training takes; the queue is closed to end it.
    begin(enqueues[which],
          [which, at = *suspensions](loop& self, const status& outcome) {
            self.ran(which, outcome, at);
            self.by->run_ended();
          },
          {.deadline = std::chrono::steady_clock::time_point::max()});
  }

  // A session that is closed refuses at once.
  template <class Then>
  void begin(step& what, Then then, const run_options& options = {}) {
    try {
      what.run_async(
          {},
          [self = shared_from_this(), then](const result<std::vector<tensor>>& outcome) {
            then(*self, outcome.status());
          },
          options);
    } catch (const error& why) {
      then(*this, failure(error_kind::cancelled, why.what()));
    }
  }

  void ran(size_t which, const status& outcome, uint64_t suspensions) {
    switch (outcome.kind()) {
      case error_kind::ok: return run(which);
      case error_kind::cancelled: // the queue was closed, or suspended: then it runs again
        if (!by->stops && by->suspended_since(suspensions)) {
          if (limited)
            ++left;
          return run(which);
        }
        return leave();
      case error_kind::out_of_range: // the end of the data
        return leave();
      default: fail(outcome); return leave();
    }
  }

  // Whoever leaves last closes the queue.
  void leave() {
    if (active.fetch_sub(1) > 1)
      return;
    if (stays_open && !by->stops)
      return by->ended(this);
    by->run_begins();
    begin(by->stops ? *cancel : *close, [](loop& self, const status& closed) {
      // A session that is gone has no queue to close.
      if (!closed && closed.kind() != error_kind::cancelled)
        self.fail(closed);
      self.by->ended(&self);
      self.by->run_ended();
    });
  }

  void stop() override {
    begin(*cancel, [](loop&, const status&) {});
  }

  void fail(const status& why) const {
    error thrown{why};
    by->stop(&thrown);
  }
};

queue_runner::queue_runner(edge queue, std::vector<node*> enqueues, location where)
    : name_(queue ? queue.node->name() : ""), queue_(queue), enqueues_(std::move(enqueues)) {
  if (queue.is_nothing() || queue.node->op().makes != resource::queue)
    reject("queue_runner", where, "needs a queue");
  if (enqueues_.empty() || std::ranges::find(enqueues_, nullptr) != enqueues_.end())
    reject("queue_runner", where, "needs nodes that fill queue '", name_, "'");
  close_ = queue_close(queue, {}, name_ + "/close", where);
  cancel_ = queue_close(queue, {.cancel_pending_enqueues = true}, name_ + "/cancel", where);
  suspend_ = queue_suspend(queue, {}, name_ + "/suspend", where);
  resume_ = queue_suspend(queue, {.suspended = false}, name_ + "/resume", where);
}

queue_runner& queue_runner::closes(const std::vector<edge>& others, location where) {
  std::vector<node*> close{close_}, cancel{cancel_}, suspend{suspend_}, resume{resume_};
  for (const auto& one : others) {
    if (one.is_nothing() || one.node->op().makes != resource::queue)
      reject("queue_runner", where, "can close queues only");
    auto name = one.node->name();
    close.push_back(queue_close(one, {}, name + "/close", where));
    cancel.push_back(queue_close(one, {.cancel_pending_enqueues = true}, name + "/cancel", where));
    suspend.push_back(queue_suspend(one, {}, name + "/suspend", where));
    resume.push_back(queue_suspend(one, {.suspended = false}, name + "/resume", where));
  }
  auto& in = queue_.node->graph();
  close_ = detail::add_group(in, close, name_ + "/close_all", where);
  cancel_ = detail::add_group(in, cancel, name_ + "/cancel_all", where);
  suspend_ = detail::add_group(in, suspend, name_ + "/suspend_all", where);
  resume_ = detail::add_group(in, resume, name_ + "/resume_all", where);
  return *this;
}

void queue_runner::start(session& in, coordinator& by, location where) const {
  auto made = std::make_shared<loop>();
  made->by = by.state_;
  for (auto* one : enqueues_)
    made->enqueues.push_back(in.prepare({}, {}, {one}, {.low_priority = true}, where));
  made->close = in.prepare({}, {}, {close_}, where);
  made->cancel = in.prepare({}, {}, {cancel_}, where);
  auto suspend = in.prepare({}, {}, {suspend_}, where),
       resume = in.prepare({}, {}, {resume_}, where);
  made->stays_open = stays_open_;
  made->active = enqueues_.size();
  made->name = by.state_->add(name_, {suspend, resume});
  auto limit = by.state_->limit_of(made->name, limit_);
  made->limited = limit >= 0;
  made->left = limit;
  by.state_->begins(made);
  for (size_t i = 0; i < enqueues_.size(); ++i)
    made->run(i);
}

} // namespace troupe
