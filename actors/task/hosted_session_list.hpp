// The sessions that a task hosts for clients, for inspection and metrics.
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

/// A hosted session. The actor that hosts it writes, any thread may read.
class listed_session {
public:
  listed_session(std::string client_name, uint64_t number)
      : client(std::move(client_name)), session(number) {}

  const std::string client; ///< the name of its connection: "client 5"
  const uint64_t session;   ///< the session number of its steps' ids
  const std::chrono::steady_clock::time_point opened = std::chrono::steady_clock::now();
  std::atomic<uint64_t> ended{0}, failed{0}; ///< steps
  std::atomic<size_t> running{0};            ///< steps that were admitted
  std::atomic<size_t> requests{0};           ///< that are not answered yet, steps included
  std::atomic<size_t> programs{0};           ///< prepared steps
  std::atomic<uint64_t> bytes{0}; ///< of graphs, and of the feeds of steps that run or wait

  /// Notes that a step is queued since `since_ns`, by steady_ns().
  void enqueue_step(uint64_t step, int64_t since_ns) {
    std::lock_guard guard{mutex_};
    queued_.emplace(step, since_ns);
  }
  /// Notes that a step is no longer queued.
  void dequeue_step(uint64_t step) {
    std::lock_guard guard{mutex_};
    queued_.erase(step);
  }
  size_t queued_steps() const {
    std::lock_guard guard{mutex_};
    return queued_.size();
  }
  /// Returns the times since which steps are queued, by steady_ns(), the first step first; at most
  /// `most` of them.
  std::vector<int64_t> waiting_since(size_t most) const {
    std::lock_guard guard{mutex_};
    std::vector<int64_t> times;
    for (auto position = queued_.begin(); position != queued_.end() && times.size() < most;
         ++position)
      times.push_back(position->second);
    return times;
  }

private:
  mutable std::mutex mutex_;
  std::map<uint64_t, int64_t> queued_; // keys rise with time
};

using listed_session_ptr = std::shared_ptr<listed_session>;

/// The open sessions, and counts of all. Any thread may call.
class hosted_session_list {
public:
  void add(const listed_session_ptr& session) {
    std::lock_guard guard{mutex_};
    open_.emplace(session.get(), session);
    ++opened_;
  }
  void remove(const listed_session& session) {
    std::lock_guard guard{mutex_};
    open_.erase(&session);
  }
  std::vector<listed_session_ptr> open() const {
    std::lock_guard guard{mutex_};
    std::vector<listed_session_ptr> sessions;
    for (const auto& [key, session] : open_)
      sessions.push_back(session);
    return sessions;
  }
  size_t size() const {
    std::lock_guard guard{mutex_};
    return open_.size();
  }
  uint64_t opened() const noexcept { return opened_; } ///< in total

  /// The steps of all sessions, ended sessions included.
  step_counts steps;
  std::atomic<uint64_t> refused{0}; ///< sessions
  std::atomic<size_t> limit{0};     ///< of sessions

private:
  mutable std::mutex mutex_;
  std::map<const listed_session*, listed_session_ptr> open_;
  std::atomic<uint64_t> opened_{0};
};

} // namespace troupe
