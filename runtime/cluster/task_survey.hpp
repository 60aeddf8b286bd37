// What several tasks answer, and which of them could not be asked.
#pragma once
#include "troupe/runtime/device/device_info.hpp"
#include "troupe/runtime/state/state_info.hpp"
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <vector>

namespace troupe {

struct task_problem {
  /// Leaves the name of the task out of the text where it stands first.
  static task_problem of(std::string task, const status& why) {
    std::string_view text = why.message();
    if (text.starts_with(task) && text.substr(task.size()).starts_with(": "))
      text.remove_prefix(task.size() + 2);
    return {std::move(task), failure(why.kind(), text)};
  }

  std::string task = {}; ///< "/job:ps/task:0"
  status why = {};       ///< the reason
};

/// One error for all of them: the kind of the first, and a part of the text for each. Ok where
/// there are none.
inline status as_error(const std::vector<task_problem>& problems) {
  if (problems.empty())
    return {};
  std::string text;
  for (const auto& each : problems)
    text +=
        concat(text.empty() ? "" : "; ", each.task, " could not be asked: ", each.why.message());
  return failure(problems.front().why.kind(), text).on_task(problems.front().task);
}

/// The devices of the tasks that answered, and the other tasks.
struct device_survey {
  std::vector<device_info> devices = {};
  std::vector<task_problem> problems = {};
};

/// The same of their state.
struct state_survey {
  state_list state = {};
  std::vector<task_problem> problems = {};
};

} // namespace troupe
