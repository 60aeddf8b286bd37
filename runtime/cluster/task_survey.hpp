// The answers of several tasks, and the tasks that did not answer.
#pragma once
#include "troupe/runtime/device/device_info.hpp"
#include "troupe/runtime/state/state_info.hpp"
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <vector>

namespace troupe {

/// Why a task did not answer.
struct task_problem {
  /// Makes a problem of an error. Removes the name of the task from the start of the text.
  static task_problem of(std::string task, const status& reason) {
    std::string_view text = reason.message();
    if (text.starts_with(task) && text.substr(task.size()).starts_with(": "))
      text.remove_prefix(task.size() + 2);
    return {std::move(task), failure(reason.kind(), text)};
  }

  std::string task = {}; ///< "/job:ps/task:0"
  status reason = {};
};

/// Combines all problems into one error: with the kind of the first, and a part of the text for
/// each. Ok if there are none.
inline status as_error(const std::vector<task_problem>& problems) {
  if (problems.empty())
    return {};
  std::string text;
  for (const auto& problem : problems)
    text += concat(text.empty() ? "" : "; ", problem.task,
                   " could not be queried: ", problem.reason.message());
  return failure(problems.front().reason.kind(), text).with_task(problems.front().task);
}

/// The devices of the tasks that answered, and the problems of the other tasks.
struct device_survey {
  std::vector<device_info> devices = {};
  std::vector<task_problem> problems = {};
};

/// The state on the tasks that answered, and the problems of the other tasks.
struct state_survey {
  state_list state = {};
  std::vector<task_problem> problems = {};
};

} // namespace troupe
