// Records the valid incarnation of each task.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

namespace troupe {

/// Processes start and end under the same task name. Once a process has been replaced, it is
/// refused, because a process that was suspended or cut off must not continue as if nothing had
/// happened. A replaced process may be the first that connects, or may call after its successor.
/// The valid incarnation is the one that answers at the task's address; among callers, the one that
/// began last (the greatest number). Any thread may call.
class incarnations {
public:
  /// Limit of the number of task names that callers may use.
  static constexpr size_t max_tasks = 16'384;

  /// A task has introduced itself: it has called, or was called at its address. Fails if another
  /// process has replaced it.
  status register_task(const std::string& task, uint64_t incarnation, bool at_its_address = false) {
    std::lock_guard guard{mutex_};
    if (!at_its_address && tasks_.size() >= max_tasks && !tasks_.contains(task))
      return failure(error_kind::resource_exhausted, "tasks of ", max_tasks,
                     " names have called already, which is the limit: ", task,
                     " can only be called at its address, until this process is restarted");
    auto& known = tasks_[task];
    auto replaced = std::ranges::find(known.former, incarnation) != known.former.end();
    if (at_its_address)
      std::erase(known.former, incarnation);
    else if (replaced || incarnation < known.latest)
      return failure(error_kind::failed_precondition, task, " with the incarnation ", incarnation,
                     " has been replaced by ", known.latest, ": end the old process");
    if (known.latest != 0 && known.latest != incarnation) {
      known.former.push_back(known.latest);
      if (known.former.size() > max_former)
        known.former.pop_front();
    }
    known.latest = incarnation;
    return {};
  }

private:
  static constexpr size_t max_former = 64;
  struct known {
    uint64_t latest = 0;
    std::deque<uint64_t> former;
  };
  std::mutex mutex_;
  std::map<std::string, known> tasks_;
};

} // namespace troupe
