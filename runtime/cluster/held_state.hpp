// The incarnations of tasks on which a session has state: variables, queues, tables.
#pragma once
#include "troupe/runtime/device/device_name.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace troupe {

/// Detects that a task has restarted and lost its state for a session, so that no step mistakes a
/// new empty queue for one that was emptied. Knows no actors.
class held_state {
public:
  enum class check_result : uint8_t {
    present,        ///< the state exists, as far as the session knows
    lost,           ///< the task is another incarnation; an error of a step has reported it
    lost_unreported ///< the task is another incarnation, and no error has reported it
  };

  /// Called before a step of the session uses state on the task. Reports each loss once. An error
  /// from before the task was last found unchanged does not count as a report of a later loss.
  check_result use(const task_name& task, uint64_t incarnation) {
    auto [entry, is_first] = tasks_.try_emplace(task, known{incarnation, false});
    auto before = std::exchange(entry->second, known{incarnation, false});
    reported_count_ -= before.reported;
    if (is_first || before.incarnation == incarnation)
      return check_result::present;
    return before.reported ? check_result::lost : check_result::lost_unreported;
  }

  /// A step that uses state on the task has failed because the task did not answer or refused it:
  /// its error reports the loss.
  void note_reported(const task_name& task) {
    auto entry = tasks_.find(task);
    if (entry == tasks_.end())
      return;
    reported_count_ += !entry->second.reported;
    entry->second.reported = true;
  }

  /// A step that uses state on the task has succeeded: earlier reports do not count any more.
  void note_used(const task_name& task) {
    if (reported_count_ == 0)
      return;
    if (auto entry = tasks_.find(task); entry != tasks_.end())
      reported_count_ -= std::exchange(entry->second.reported, false);
  }

private:
  struct known {
    uint64_t incarnation = 0;
    bool reported = false;
  };
  std::map<task_name, known> tasks_;
  size_t reported_count_ = 0; // entries of tasks_ that are reported
};

} // namespace troupe
