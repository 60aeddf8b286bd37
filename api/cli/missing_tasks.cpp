#include "troupe/api/cli/missing_tasks.hpp"
// Reports tasks that could not be queried.

#include "troupe/runtime/types/printable.hpp"

#include <iostream>

namespace troupe::cli {

int print_problems(const std::vector<task_problem>& problems) {
  for (const auto& problem : problems)
    std::cerr << concat("troupe: ", printable(problem.task),
                        " could not be queried: ", printable(problem.reason.message()), '\n');
  return problems.empty() ? 0 : some_missing;
}

std::vector<task_problem> problems_in(const inspection& cluster) {
  std::vector<task_problem> problems;
  if (auto text = text_of(cluster.find("error")); !text.empty())
    problems.push_back({cluster.ref, failure(error_kind::unavailable, text)});
  for (const auto& child : cluster.children)
    for (auto& problem : problems_in(child))
      problems.push_back(std::move(problem));
  return problems;
}

} // namespace troupe::cli
