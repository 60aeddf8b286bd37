// What a session has on tasks that may be restarted: variables, queues, tables.
#pragma once
#include "troupe/runtime/device/device_name.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace troupe {

/// Notices that a task has been restarted and what it held for a session is gone, so that no step
/// takes an empty queue for one that was emptied. Knows no actors.
class held_state {
public:
  enum class found : uint8_t {
    there,      ///< as far as the session knows
    lost,       ///< the task is another incarnation; a step that failed has told of it
    lost_unsaid ///< the same, and no error has told of it
  };

  /// A step of the session is about to use state on the task. Each loss is found once; an error
  /// from before a task was found as it had been says nothing of a later loss.
  found use(const task_name& task, uint64_t incarnation) {
    auto [it, first] = tasks_.try_emplace(task, known{incarnation, false});
    auto before = std::exchange(it->second, known{incarnation, false});
    told_ -= before.told;
    if (first || before.incarnation == incarnation)
      return found::there;
    return before.told ? found::lost : found::lost_unsaid;
  }

  /// A step that uses state there has failed, because the task did not answer or refused it: the
  /// error says so.
  void tell(const task_name& task) {
    auto it = tasks_.find(task);
    if (it == tasks_.end())
      return;
    told_ += !it->second.told;
    it->second.told = true;
  }

  /// A step has used state there, and ended well: what errors have told of is over.
  void reach(const task_name& task) {
    if (told_ == 0)
      return;
    if (auto it = tasks_.find(task); it != tasks_.end())
      told_ -= std::exchange(it->second.told, false);
  }

private:
  struct known {
    uint64_t incarnation = 0;
    bool told = false;
  };
  std::map<task_name, known> tasks_;
  size_t told_ = 0; // of them
};

} // namespace troupe
