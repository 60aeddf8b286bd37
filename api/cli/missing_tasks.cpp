#include "troupe/api/cli/missing_tasks.hpp"

#include "troupe/runtime/types/printable.hpp"

#include <iostream>

namespace troupe::cli {

int tell_problems(const std::vector<task_problem>& problems) {
  for (const auto& each : problems)
    std::cerr << concat("troupe: ", printable(each.task),
                        " could not be asked: ", printable(each.why.message()), '\n');
  return problems.empty() ? 0 : some_missing;
}

std::vector<task_problem> problems_in(const inspection& cluster) {
  std::vector<task_problem> found;
  if (auto text = text_of(cluster.find("error")); !text.empty())
    found.push_back({cluster.ref, failure(error_kind::unavailable, text)});
  for (const auto& child : cluster.children)
    for (auto& each : problems_in(child))
      found.push_back(std::move(each));
  return found;
}

} // namespace troupe::cli
