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

  /// `patience` is the time to wait for a task that may be restarting; `last_look` is the minimum
  /// time of each attempt, because there may have been no attempts for a while.
  explicit unreachable_tasks(std::chrono::milliseconds patience,
                             std::chrono::milliseconds last_look)
      : patience_(patience), last_look_(last_look) {}

  /// The task is needed now: returns the time until which to look for it if another task would do.
  time_point begin_search(const task_name& task, time_point now) {
    auto& search = tasks_.try_emplace(task, sought{now, now}).first->second;
    // After a long pause between attempts, the task may have been there meanwhile.
    if (now - std::exchange(search.looked, now) > 2 * patience_)
      search.since = now;
    return search.lost ? now + last_look_ : std::max(search.since + patience_, now + last_look_);
  }
  void note_found(const task_name& task) { tasks_.erase(task); }
  /// The search was long enough; or the task was to replace another, and is not there.
  void note_lost(const task_name& task, time_point now) {
    tasks_.try_emplace(task, sought{now, now}).first->second.lost = true;
  }
  std::set<task_name> lost() const {
    std::set<task_name> lost_tasks;
    for (const auto& [task, search] : tasks_)
      if (search.lost)
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
  struct sought {
    time_point since, looked;
    bool lost = false, reported = false;
  };
  const std::chrono::milliseconds patience_, last_look_;
  std::map<task_name, sought> tasks_;
};

} // namespace troupe
