// What a session has on tasks that may be restarted: variables, queues, tables.
#pragma once
#include "troupe/runtime/device/device_name.hpp"

#include <cstdint>
#include <map>

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

  /// A step of the session is about to use state on the task. Each loss is found once.
  found use(const task_name& task, uint64_t incarnation) {
    auto [it, first] = tasks_.try_emplace(task, known{incarnation, false});
    auto& one = it->second;
    auto same = first || one.incarnation == incarnation;
    auto told = one.told;
    one = {incarnation, same && told};
    return same ? found::there : told ? found::lost : found::lost_unsaid;
  }

  /// A step that uses state there has failed, because the task did not answer or refused it: the
  /// error says so.
  void tell(const task_name& task) {
    if (auto it = tasks_.find(task); it != tasks_.end())
      it->second.told = true;
  }

private:
  struct known {
    uint64_t incarnation = 0;
    bool told = false;
  };
  std::map<task_name, known> tasks_;
};

} // namespace troupe
