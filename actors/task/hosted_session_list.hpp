// The sessions that a task hosts for clients, as operators see them.
#pragma once
#include "troupe/runtime/insight/step_counts.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace troupe {

/// One of them. The actor that hosts it writes, any thread may read.
class listed_session {
public:
  listed_session(std::string of, uint64_t number) : client(std::move(of)), session(number) {}

  const std::string client; ///< as its connection is named: "client 5"
  const uint64_t session;   ///< in the ids of its steps
  const std::chrono::steady_clock::time_point opened = std::chrono::steady_clock::now();
  std::atomic<uint64_t> ended{0}, failed{0}; ///< steps
  std::atomic<size_t> running{0};            ///< steps that have been let in
  std::atomic<size_t> requests{0};           ///< that are not answered yet; steps are some of them
  std::atomic<size_t> programs{0};           ///< kinds of steps that are prepared
  std::atomic<uint64_t> bytes{0}; ///< of graphs, and of the feeds of steps that run or wait

  /// A step waits for its turn from then on, by steady_ns().
  void wait_in_line(uint64_t step, int64_t since_ns) {
    std::lock_guard guard{mutex_};
    in_line_.emplace(step, since_ns);
  }
  /// It does not any more.
  void leave_line(uint64_t step) {
    std::lock_guard guard{mutex_};
    in_line_.erase(step);
  }
  size_t in_line() const {
    std::lock_guard guard{mutex_};
    return in_line_.size();
  }
  /// Since when steps wait for their turn: so many of them, in the order in which they came.
  std::vector<int64_t> waiting_since(size_t most) const {
    std::lock_guard guard{mutex_};
    std::vector<int64_t> made;
    for (auto it = in_line_.begin(); it != in_line_.end() && made.size() < most; ++it)
      made.push_back(it->second);
    return made;
  }

private:
  mutable std::mutex mutex_;
  std::map<uint64_t, int64_t> in_line_; // numbers rise
};

using listed_session_ptr = std::shared_ptr<listed_session>;

/// Any thread may call.
class hosted_session_list {
public:
  void add(const listed_session_ptr& one) {
    std::lock_guard guard{mutex_};
    open_.emplace(one.get(), one);
    ++opened_;
  }
  void remove(const listed_session& one) {
    std::lock_guard guard{mutex_};
    open_.erase(&one);
  }
  std::vector<listed_session_ptr> open() const {
    std::lock_guard guard{mutex_};
    std::vector<listed_session_ptr> made;
    for (const auto& [key, one] : open_)
      made.push_back(one);
    return made;
  }
  size_t size() const {
    std::lock_guard guard{mutex_};
    return open_.size();
  }
  uint64_t opened() const noexcept { return opened_; } ///< ever

  /// Of the steps of all sessions, those that have ended among them.
  step_counts steps;
  std::atomic<uint64_t> refused{0}; ///< sessions
  std::atomic<size_t> most{0};      ///< sessions that there may be

private:
  mutable std::mutex mutex_;
  std::map<const listed_session*, listed_session_ptr> open_;
  std::atomic<uint64_t> opened_{0};
};

} // namespace troupe
