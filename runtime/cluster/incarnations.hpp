// Which incarnation of each task is the one that counts.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

namespace troupe {

/// Processes come and go under one name. One that another has taken the place of is refused from
/// then on: a process that was frozen, or cut off, must not go on as if nothing had happened. It
/// may be the first to be met, or call when its successor is long known: what counts is who answers
/// at the task's address; of those that call, the one that began last (greater numbers are later).
/// Any thread may call.
class incarnations {
public:
  /// How many names those that call may have, from the first on.
  static constexpr size_t most_tasks = 16'384;

  /// A task has introduced itself, having called, or having been called at its address. Fails where
  /// another has taken its place.
  status meet(const std::string& task, uint64_t incarnation, bool at_its_address = false) {
    std::lock_guard guard{mutex_};
    if (!at_its_address && tasks_.size() >= most_tasks && !tasks_.contains(task))
      return failure(error_kind::resource_exhausted, "tasks of ", most_tasks,
                     " names have called already, as many as may be: ", task,
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
      if (known.former.size() > most_former)
        known.former.pop_front();
    }
    known.latest = incarnation;
    return {};
  }

private:
  static constexpr size_t most_former = 64;
  struct known {
    uint64_t latest = 0;
    std::deque<uint64_t> former;
  };
  std::mutex mutex_;
  std::map<std::string, known> tasks_;
};

} // namespace troupe
