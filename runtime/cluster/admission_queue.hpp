// Limits the number of running steps; waiting steps are admitted round-robin by client.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <utility>

namespace troupe {

/// At most `max_running` steps run; further steps are queued, one queue for each client.
///
/// Exception: a step of a client without running steps is admitted immediately, because the running
/// steps of other clients may wait for its results. So the limit may be exceeded by the number of
/// clients, less one.
///
/// If all running steps wait for results of a queued step, no step ends. This class has no clock:
/// its owner must detect the stall and call admit_one_more(). Not thread-safe.
class admission_queue {
public:
  using client = uint64_t;

  explicit admission_queue(size_t max_running) : max_running_(max_running) {}

  /// Calls `start_step` now, or when the step is admitted; the step must then leave() once. `step`
  /// must differ from the client's other waiting steps. Returns whether the step was admitted
  /// immediately.
  bool enter(client from, uint64_t step, std::function<void()> start_step) {
    auto& queue = queues_[from];
    if (queue.running > 0 && running_ >= max_running_) {
      if (queue.waiting.empty())
        order_.push_back(from);
      queue.waiting.emplace_back(step, std::move(start_step));
      ++waiting_;
      return false;
    }
    begin(queue);
    start_step();
    return true;
  }

  /// Admits the next waiting step, whatever the number of running steps.
  void admit_one_more() {
    if (!order_.empty())
      admit_next();
  }

  /// Removes a waiting step; returns whether it was waiting.
  bool withdraw(client from, uint64_t step) {
    auto queue = queues_.find(from);
    if (queue == queues_.end() || queue->second.waiting.remove_if(
                                      [&](const auto& entry) { return entry.first == step; }) == 0)
      return false;
    --waiting_;
    if (queue->second.waiting.empty())
      order_.remove(from);
    return true;
  }

  /// An admitted step of the client has ended. Admits waiting steps.
  void leave(client from) {
    auto queue = queues_.find(from);
    --queue->second.running;
    --running_;
    ++left_;
    if (queue->second.running == 0 && !queue->second.waiting.empty()) {
      order_.remove(from);
      order_.push_front(from);
      admit_next();
    } else if (queue->second.running == 0) {
      queues_.erase(queue);
    }
    while (running_ < max_running_ && !order_.empty())
      admit_next();
  }

  size_t running() const noexcept { return running_; }
  size_t waiting() const noexcept { return waiting_; }
  /// Number of steps that have left since the start.
  uint64_t left() const noexcept { return left_; }

private:
  struct client_queue {
    size_t running = 0;
    std::list<std::pair<uint64_t, std::function<void()>>> waiting = {};
  };

  void begin(client_queue& queue) {
    ++queue.running;
    ++running_;
  }

  void admit_next() {
    auto next = order_.front();
    order_.pop_front();
    auto& queue = queues_.at(next);
    auto start_step = std::move(queue.waiting.front().second);
    queue.waiting.pop_front();
    --waiting_;
    if (!queue.waiting.empty())
      order_.push_back(next);
    begin(queue);
    start_step();
  }

  const size_t max_running_;
  size_t running_ = 0, waiting_ = 0;
  uint64_t left_ = 0;
  std::map<client, client_queue> queues_; // of clients that have steps
  std::list<client> order_;               // clients with waiting steps
};

} // namespace troupe
