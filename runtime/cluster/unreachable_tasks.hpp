// Tasks that a session cannot reach, so that it places nodes elsewhere where possible. Knows no
// actors and no clocks.
#pragma once
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/step_signature.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace troupe {

/// A task is lost if it is still not found some time after the session began to look for it.
class unreachable_tasks {
public:
  using time_point = step_clock::time_point;

  /// `patience` is the time to wait for a task that may be restarting. `min_search` is the minimum
  /// time of each search, because there may have been no search for a while.
  explicit unreachable_tasks(std::chrono::milliseconds patience,
                             std::chrono::milliseconds min_search)
      : patience_(patience), min_search_(min_search) {}

  /// The task is needed now: returns the time until which to look for it if another task would do.
  time_point begin_search(const task_name& task, time_point now) {
    auto& entry = tasks_.try_emplace(task, search{now, now}).first->second;
    // After a long pause between searches, the task may have been reachable meanwhile.
    if (now - std::exchange(entry.last_search, now) > 2 * patience_)
      entry.since = now;
    return entry.lost ? now + min_search_ : std::max(entry.since + patience_, now + min_search_);
  }
  void note_found(const task_name& task) { tasks_.erase(task); }
  /// Counts the task as lost: it was not found in time, or it was to replace another task and
  /// cannot be reached.
  void note_lost(const task_name& task, time_point now) {
    tasks_.try_emplace(task, search{now, now}).first->second.lost = true;
  }
  std::set<task_name> lost() const {
    std::set<task_name> lost_tasks;
    for (const auto& [task, entry] : tasks_)
      if (entry.lost)
        lost_tasks.insert(task);
    return lost_tasks;
  }
  /// Forgets all tasks except these.
  void keep_only(const std::vector<task_name>& existing) {
    std::erase_if(tasks_, [&](const auto& entry) {
      return std::ranges::find(existing, entry.first) == existing.end();
    });
  }
  /// Returns true if the task is lost and this was not reported yet.
  bool take_report(const task_name& task) {
    auto entry = tasks_.find(task);
    return entry != tasks_.end() && !std::exchange(entry->second.reported, true);
  }

private:
  struct search {
    time_point since, last_search;
    bool lost = false, reported = false;
  };
  const std::chrono::milliseconds patience_, min_search_;
  std::map<task_name, search> tasks_;
};

} // namespace troupe
