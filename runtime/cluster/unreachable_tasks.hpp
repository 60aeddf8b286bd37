// Which tasks a session looks for in vain, so that what may run elsewhere does. Knows no actors and
// no clocks.
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

/// A task is lost when it was looked for, and some time later is still not found.
class unreachable_tasks {
public:
  using time_point = step_clock::time_point;

  /// So long a task is waited for that may be on its way back; and so long at least at each look,
  /// as nobody may have looked for it meanwhile.
  explicit unreachable_tasks(std::chrono::milliseconds patience,
                             std::chrono::milliseconds last_look)
      : patience_(patience), last_look_(last_look) {}

  /// It is needed now: returns until when to look where another would do.
  time_point seek(const task_name& task, time_point now) {
    auto& one = tasks_.try_emplace(task, sought{now, now}).first->second;
    // It may have been there since somebody looked, who had no time.
    if (now - std::exchange(one.looked, now) > 2 * patience_)
      one.since = now;
    return one.lost ? now + last_look_ : std::max(one.since + patience_, now + last_look_);
  }
  void found(const task_name& task) { tasks_.erase(task); }
  /// It has been looked for long enough; or was to take the place of another, and is not there.
  void lose(const task_name& task, time_point now) {
    tasks_.try_emplace(task, sought{now, now}).first->second.lost = true;
  }
  std::set<task_name> lost() const {
    std::set<task_name> all;
    for (const auto& [task, one] : tasks_)
      if (one.lost)
        all.insert(task);
    return all;
  }
  /// There are no others any more.
  void keep_only(const std::vector<task_name>& those) {
    std::erase_if(tasks_, [&](const auto& one) {
      return std::ranges::find(those, one.first) == those.end();
    });
  }
  /// Whether it was not told of yet that the task is lost.
  bool tell(const task_name& task) {
    auto it = tasks_.find(task);
    return it != tasks_.end() && !std::exchange(it->second.told, true);
  }

private:
  struct sought {
    time_point since, looked;
    bool lost = false, told = false;
  };
  const std::chrono::milliseconds patience_, last_look_;
  std::map<task_name, sought> tasks_;
};

} // namespace troupe
