// Limits the number of running steps; waiting steps are admitted round-robin by client.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <utility>

namespace troupe {

/// A client without running steps is admitted immediately, even beyond the limit, because the
/// running steps of others may wait for its results. So the limit may be exceeded by the number of
/// clients, less one. If all running steps wait for results of a waiting step, no step ends: a
/// caller with a clock must notice, and admit one more.
class admission_queue {
public:
  using client = uint64_t;

  explicit admission_queue(size_t max_running) : max_running_(max_running) {}

  /// Calls `go` now, or when the step is admitted; the step must then leave() once. `step` must
  /// differ from the client's other waiting steps. Returns whether the step was admitted
  /// immediately.
  bool enter(client from, uint64_t step, std::function<void()> go) {
    auto& line = lines_[from];
    if (line.running > 0 && running_ >= max_running_) {
      if (line.waiting.empty())
        order_.push_back(from);
      line.waiting.emplace_back(step, std::move(go));
      ++waiting_;
      return false;
    }
    begin(line);
    go();
    return true;
  }

  /// Admits the next waiting step, whatever the number of running steps.
  void admit_one_more() {
    if (!order_.empty())
      call_next();
  }

  /// Removes a waiting step; returns whether it was waiting.
  bool withdraw(client from, uint64_t step) {
    auto line = lines_.find(from);
    if (line == lines_.end() ||
        line->second.waiting.remove_if([&](const auto& entry) { return entry.first == step; }) == 0)
      return false;
    --waiting_;
    if (line->second.waiting.empty())
      order_.remove(from);
    return true;
  }

  void leave(client from) {
    auto line = lines_.find(from);
    --line->second.running;
    --running_;
    ++left_;
    if (line->second.running == 0 && !line->second.waiting.empty()) {
      order_.remove(from);
      order_.push_front(from);
      call_next();
    } else if (line->second.running == 0) {
      lines_.erase(line);
    }
    while (running_ < max_running_ && !order_.empty())
      call_next();
  }

  size_t running() const noexcept { return running_; }
  size_t waiting() const noexcept { return waiting_; }
  /// Number of steps that have left since the start.
  uint64_t left() const noexcept { return left_; }

private:
  struct line {
    size_t running = 0;
    std::list<std::pair<uint64_t, std::function<void()>>> waiting = {};
  };

  void begin(line& client_line) {
    ++client_line.running;
    ++running_;
  }

  void call_next() {
    auto next = order_.front();
    order_.pop_front();
    auto& line = lines_.at(next);
    auto go = std::move(line.waiting.front().second);
    line.waiting.pop_front();
    --waiting_;
    if (!line.waiting.empty())
      order_.push_back(next);
    begin(line);
    go();
  }

  const size_t max_running_;
  size_t running_ = 0, waiting_ = 0;
  uint64_t left_ = 0;
  std::map<client, line> lines_; // of clients that have steps
  std::list<client> order_;      // clients with waiting steps
};

} // namespace troupe
