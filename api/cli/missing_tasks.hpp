// Reports of commands about tasks that could not be queried.
#pragma once
#include "troupe/runtime/cluster/task_survey.hpp"
#include "troupe/runtime/insight/inspection.hpp"

namespace troupe::cli {

/// The exit code of a command that shows only a part of the cluster.
inline constexpr int some_missing = 2;

/// Writes a line for each problem to standard error. Returns some_missing, or 0 if there is none.
int print_problems(const std::vector<task_problem>& problems);
/// Returns the tasks of an inspection of the cluster that have the property "error".
std::vector<task_problem> problems_in(const inspection& cluster);

} // namespace troupe::cli
