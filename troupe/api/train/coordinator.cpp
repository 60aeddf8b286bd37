#include "troupe/api/train/coordinator.hpp"

#include "troupe/api/ops.hpp"
#include "troupe/api/reject.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>

namespace troupe {

using namespace std::chrono_literals;

struct coordinator::state {
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> stops{false};
  std::optional<error> cause;
  std::vector<std::string> running;
  std::map<const void*, std::function<void()>> on_stop; // of the runners, while they run

  void stop(const error* why) {
    std::map<const void*, std::function<void()>> told;
    {
      std::lock_guard guard{mutex};
      if (why && !cause && why->kind() != error_kind::out_of_range)
        cause = *why;
      if (stops.exchange(true))
        return;
      told = std::exchange(on_stop, {});
    }
    changed.notify_all();
    for (const auto& [runner, tell] : told)
      tell();
  }

  void begins(const std::string& name, const void* runner, std::function<void()> stop_it) {
    {
      std::lock_guard guard{mutex};
      running.push_back(name);
      if (!stops) {
        on_stop.emplace(runner, std::move(stop_it));
        return;
      }
    }
    stop_it();
  }

  void ended(const std::string& name, const void* runner) {
    std::function<void()> gone;
    {
      std::lock_guard guard{mutex};
      if (auto it = on_stop.find(runner); it != on_stop.end()) {
        gone = std::move(it->second);
        on_stop.erase(it);
      }
      if (auto it = std::ranges::find(running, name); it != running.end())
        running.erase(it);
    }
    changed.notify_all();
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

bool coordinator::wait_for_stop(std::chrono::milliseconds patience) {
  std::unique_lock lock{state_->mutex};
  return state_->changed.wait_for(lock, patience, [&] { return state_->stops.load(); });
}

void coordinator::join(std::chrono::milliseconds patience, location where) {
  std::unique_lock lock{state_->mutex};
  auto ended = state_->changed.wait_for(lock, patience, [&] { return state_->running.empty(); });
  if (state_->cause)
    throw *state_->cause;
  if (ended)
    return;
  std::string names;
  for (const auto& one : state_->running)
    names += concat(names.empty() ? "" : ", ", one);
  throw error{failure(error_kind::deadline_exceeded, "join (", to_string(where),
                      "): these runners have not ended within ", patience.count(), " ms: ", names,
                      state_->stops ? "" : "; nobody has asked them to stop")};
}

std::vector<std::string> coordinator::running() const {
  std::lock_guard guard{state_->mutex};
  return state_->running;
}

// What its runs under way share; goes with the last of them.
struct queue_runner::loop : std::enable_shared_from_this<queue_runner::loop> {
  std::string name;
  std::shared_ptr<coordinator::state> by;
  std::vector<step> enqueues;
  std::optional<step> close, cancel;
  std::atomic<size_t> active{0};
  std::atomic<int64_t> left{-1}; // runs; negative: no limit
  bool limited = false, stays_open = false;

  void run(size_t which) {
    if (by->stops || (limited && left.fetch_sub(1) <= 0))
      return leave();
    // It may wait for room as long as training takes; the queue is closed to end it.
    begin(enqueues[which], [which](loop& self, const status& outcome) { self.ran(which, outcome); },
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

  void ran(size_t which, const status& outcome) {
    switch (outcome.kind()) {
      case error_kind::ok: return run(which);
      case error_kind::out_of_range: // the end of the data
      case error_kind::cancelled:    // the queue was closed
        return leave();
      default: fail(outcome); return leave();
    }
  }

  // Whoever leaves last closes the queue.
  void leave() {
    if (active.fetch_sub(1) > 1)
      return;
    if (stays_open && !by->stops)
      return by->ended(name, this);
    begin(by->stops ? *cancel : *close, [](loop& self, const status& closed) {
      // A session that is gone has no queue to close.
      if (!closed && closed.kind() != error_kind::cancelled)
        self.fail(closed);
      self.by->ended(self.name, &self);
    });
  }

  void stop() {
    begin(*cancel, [](loop&, const status&) {});
  }

  void fail(const status& why) const {
    error thrown{why};
    by->stop(&thrown);
  }
};

queue_runner::queue_runner(edge queue, std::vector<node*> enqueues, location where)
    : name_(queue ? queue.node->name() : ""), queue_(queue), enqueues_(std::move(enqueues)) {
  if (!queue || queue.node->op().makes != resource::queue)
    reject("queue_runner", where, "needs a queue");
  if (enqueues_.empty() || std::ranges::find(enqueues_, nullptr) != enqueues_.end())
    reject("queue_runner", where, "needs nodes that fill queue '", name_, "'");
  close_ = queue_close(queue, {}, name_ + "/close", where);
  cancel_ = queue_close(queue, {.cancel_pending_enqueues = true}, name_ + "/cancel", where);
}

queue_runner& queue_runner::closes(const std::vector<edge>& others, location where) {
  std::vector<node*> close{close_}, cancel{cancel_};
  for (const auto& one : others) {
    if (!one || one.node->op().makes != resource::queue)
      reject("queue_runner", where, "can close queues only");
    auto name = one.node->name();
    close.push_back(queue_close(one, {}, name + "/close", where));
    cancel.push_back(queue_close(one, {.cancel_pending_enqueues = true}, name + "/cancel", where));
  }
  auto& in = queue_.node->graph();
  close_ = detail::add_group(in, close, name_ + "/close_all", where);
  cancel_ = detail::add_group(in, cancel, name_ + "/cancel_all", where);
  return *this;
}

void queue_runner::start(session& in, coordinator& by, location where) const {
  auto made = std::make_shared<loop>();
  made->name = name_;
  made->by = by.state_;
  for (auto* one : enqueues_)
    made->enqueues.push_back(in.prepare({}, {}, {one}, {.low_priority = true}, where));
  made->close = in.prepare({}, {}, {close_}, where);
  made->cancel = in.prepare({}, {}, {cancel_}, where);
  made->limited = limit_ >= 0;
  made->stays_open = stays_open_;
  made->left = limit_;
  made->active = enqueues_.size();
  by.state_->begins(name_, made.get(), [made] { made->stop(); });
  for (size_t i = 0; i < enqueues_.size(); ++i)
    made->run(i);
}

} // namespace troupe
