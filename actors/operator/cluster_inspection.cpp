#include "troupe/actors/operator/cluster_inspection.hpp"

#include "troupe/runtime/cluster/task_survey.hpp"

#include <algorithm>
#include <iterator>

namespace troupe {
namespace {

using task_iterator = std::map<task_name, std::string>::const_iterator;

// Builds the inspection of a cluster, a job or a member. A negative depth leaves out properties and
// children.
class composer {
public:
  composer(const task_addresses& cluster, const member_list& members, task_inspections inspections)
      : cluster_(cluster), members_(members), inspections_(std::move(inspections)) {}

  inspection compose(int depth) {
    inspection composed{"/", "cluster"};
    if (!cluster_.cluster.empty())
      composed.add("name", cluster_.cluster);
    composed.add("tasks", static_cast<int64_t>(cluster_.tasks.size()));
    if (members_.epoch() != list_epoch{}) {
      composed.add("coordinator", to_string(members_.coordinator()));
      composed.add("term", std::to_string(members_.epoch().term));
      composed.add("change", static_cast<int64_t>(members_.epoch().change));
    }
    for (auto first = cluster_.tasks.begin(); first != cluster_.tasks.end();) {
      auto end = end_of_job(first);
      if (composed.children.size() < inspection_limits::children)
        composed.children.push_back(job(first, end, depth - 1));
      else
        ++composed.omitted_children;
      first = end;
    }
    for (const auto& [task, entry] : members_.members())
      if (composed.children.size() < inspection_limits::children)
        composed.children.push_back(member(entry, depth - 1));
      else
        ++composed.omitted_children;
    return composed;
  }

  result<inspection> member(const std::string& id, int depth) const {
    for (const auto& [task, entry] : members_.members())
      if (id_of(task) == id)
        return member(entry, depth);
    return failure(error_kind::not_found, "the cluster has no member '", id, "'");
  }

  result<inspection> job(const std::string& name, int depth) {
    auto first = cluster_.tasks.lower_bound({name, 0});
    auto end = end_of_job(first);
    if (first == cluster_.tasks.end() || first->first.job != name)
      return failure(error_kind::not_found, "the cluster has no job '", name, "'");
    return job(first, end, depth);
  }

private:
  task_iterator end_of_job(task_iterator first) const {
    if (first == cluster_.tasks.end())
      return first;
    const auto& name = first->first.job;
    return std::find_if(first, cluster_.tasks.end(),
                        [&](const auto& entry) { return entry.first.job != name; });
  }

  static std::string id_of(const task_name& task) { return concat(task.job, ':', task.task); }

  static inspection member(const cluster_member& entry, int depth) {
    inspection composed{to_string(inspection_ref{{{"member", id_of(entry.task)}}}), "member"};
    if (depth < 0)
      return composed;
    composed.add("task", to_string(entry.task));
    composed.add("presence", std::string{to_string(entry.state)});
    composed.add("incarnation", std::to_string(entry.incarnation));
    composed.add("address", entry.address);
    composed.add("change", static_cast<int64_t>(entry.changed));
    return composed;
  }

  inspection job(task_iterator first, task_iterator end, int depth) {
    inspection composed{to_string(inspection_ref{{{"job", first->first.job}}}), "job"};
    if (depth < 0)
      return composed;
    composed.add("tasks", static_cast<int64_t>(std::distance(first, end)));
    for (auto entry = first; entry != end; ++entry)
      if (composed.children.size() < inspection_limits::children)
        composed.children.push_back(task(entry->first, entry->second, depth - 1));
      else
        ++composed.omitted_children;
    return composed;
  }

  inspection task(const task_name& name, const std::string& address, int depth) {
    auto known = inspections_.find(name);
    if (known != inspections_.end() && known->second.ok())
      return *std::move(known->second);
    inspection composed{to_string(name), "task"};
    if (depth < 0)
      return composed;
    composed.add("address", address);
    if (known != inspections_.end())
      composed.add("error",
                   task_problem::of(to_string(name), known->second.status()).reason.message());
    return composed;
  }

  const task_addresses& cluster_;
  const member_list& members_;
  task_inspections inspections_;
};

} // namespace

std::optional<int> depth_of_tasks(const inspection_ref& ref, int depth) noexcept {
  if (ref.parts.empty())
    return depth - 2;
  if (ref.parts.size() == 1 && ref.parts[0].kind == "job")
    return depth - 1;
  if (ref.parts.size() == 1 && ref.parts[0].kind == "member")
    return -1;
  return std::nullopt;
}

std::vector<task_name> tasks_below(const task_addresses& cluster, const inspection_ref& ref) {
  std::vector<task_name> tasks;
  for (const auto& [name, address] : cluster.tasks)
    if (ref.parts.empty() || name.job == ref.parts[0].id)
      tasks.push_back(name);
  return tasks;
}

result<inspection> inspect_cluster(const task_addresses& cluster, const member_list& members,
                                   const inspection_ref& ref, int depth,
                                   task_inspections inspections) {
  composer parts{cluster, members, std::move(inspections)};
  if (ref.parts.empty())
    return parts.compose(depth);
  const auto& id = ref.parts[0].id;
  return ref.parts[0].kind == "member" ? parts.member(id, depth) : parts.job(id, depth);
}

} // namespace troupe
