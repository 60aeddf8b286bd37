#include "troupe/serialization/discovery/listed_source.hpp"

#include <algorithm>
#include <iterator>

namespace troupe {
namespace {

// "/job:worker/task:0, /job:worker/task:1 and 6 more"
std::string listed(const std::vector<task_name>& tasks) {
  constexpr size_t max_named = 16;
  std::string text;
  for (size_t i = 0; i < std::min(tasks.size(), max_named); ++i)
    text += concat(text.empty() ? "" : ", ", tasks[i]);
  return tasks.size() > max_named ? concat(text, " and ", tasks.size() - max_named, " more") : text;
}

} // namespace

result<std::optional<task_name>> listed_source::own_task(const std::string& job) const {
  std::vector<task_name> candidates;
  std::ranges::copy_if(own_tasks_, std::back_inserter(candidates),
                       [&](const task_name& task) { return job.empty() || task.job == job; });
  if (candidates.empty() && !own_tasks_.empty())
    return invalid(name_, " says that this process is ", listed(own_tasks_),
                   ", and --job that it is of '", job, "'");
  if (candidates.size() > 1)
    return invalid(name_, " has several tasks on this host: ", listed(candidates),
                   "; say with --job and --task which of them this process is");
  return candidates.empty() ? std::optional<task_name>{} : candidates.front();
}

} // namespace troupe
