// Compares the messages of a profiled step with those that its programs need.
#pragma once
#include "troupe/serialization/reports/region_report.hpp"

#include <algorithm>
#include <string>

namespace troupe::test {

/// Returns a report of a step that succeeded if a task of it delivered other messages than its
/// programs need, or if there are no statistics; empty if there is no difference.
inline std::string wrong_messages(const step_statistics& step) {
  auto is_wrong = [](const task_statistics& task) {
    return task.messages != task.expected_messages || task.messages.starts == 0;
  };
  if (step.tasks.empty())
    return "a step without statistics\n";
  return std::ranges::any_of(step.tasks, is_wrong) ? region_report(step) : "";
}

} // namespace troupe::test
