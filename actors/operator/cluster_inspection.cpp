#include "troupe/actors/operator/cluster_inspection.hpp"

#include "troupe/runtime/cluster/task_survey.hpp"

#include <algorithm>
#include <iterator>

namespace troupe {
namespace {

using task_iterator = std::map<task_name, std::string>::const_iterator;

class composer {
public:
  composer(const task_addresses& cluster, const member_list& members, task_inspections said)
      : cluster_(cluster), members_(members), said_(std::move(said)) {}

  inspection all(int depth) {
    inspection made{"/", "cluster"};
    if (!cluster_.cluster.empty())
      made.add("name", cluster_.cluster);
    made.add("tasks", static_cast<int64_t>(cluster_.tasks.size()));
    if (members_.epoch() != list_epoch{}) {
      made.add("coordinator", to_string(members_.coordinator()));
      made.add("term", std::to_string(members_.epoch().term));
      made.add("change", static_cast<int64_t>(members_.epoch().change));
    }
    for (auto it = cluster_.tasks.begin(); it != cluster_.tasks.end();) {
      auto end = end_of_job(it);
      if (made.children.size() < inspection_limits::children)
        made.children.push_back(job(it, end, depth - 1));
      else
        ++made.left_out;
      it = end;
    }
    for (const auto& [task, one] : members_.members())
      if (made.children.size() < inspection_limits::children)
        made.children.push_back(member(one, depth - 1));
      else
        ++made.left_out;
    return made;
  }

  result<inspection> member(const std::string& id, int depth) const {
    for (const auto& [task, one] : members_.members())
      if (id_of(task) == id)
        return member(one, depth);
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
  task_iterator end_of_job(task_iterator it) const {
    if (it == cluster_.tasks.end())
      return it;
    const auto& name = it->first.job;
    return std::find_if(it, cluster_.tasks.end(),
                        [&](const auto& one) { return one.first.job != name; });
  }

  static std::string id_of(const task_name& task) { return concat(task.job, ':', task.task); }

  static inspection member(const cluster_member& of, int depth) {
    inspection made{to_string(inspection_ref{{{"member", id_of(of.task)}}}), "member"};
    if (depth < 0)
      return made;
    made.add("task", to_string(of.task));
    made.add("presence", std::string{to_string(of.state)});
    made.add("incarnation", std::to_string(of.incarnation));
    made.add("address", of.address);
    made.add("change", static_cast<int64_t>(of.changed));
    return made;
  }

  inspection job(task_iterator first, task_iterator end, int depth) {
    inspection made{to_string(inspection_ref{{{"job", first->first.job}}}), "job"};
    if (depth < 0)
      return made;
    made.add("tasks", static_cast<int64_t>(std::distance(first, end)));
    for (auto it = first; it != end; ++it)
      if (made.children.size() < inspection_limits::children)
        made.children.push_back(task(it->first, it->second, depth - 1));
      else
        ++made.left_out;
    return made;
  }

  inspection task(const task_name& name, const std::string& address, int depth) {
    auto it = said_.find(name);
    if (it != said_.end() && it->second.ok())
      return *std::move(it->second);
    inspection made{to_string(name), "task"};
    if (depth < 0)
      return made;
    made.add("address", address);
    if (it != said_.end())
      made.add("error", task_problem::of(to_string(name), it->second.status()).why.message());
    return made;
  }

  const task_addresses& cluster_;
  const member_list& members_;
  task_inspections said_;
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
  std::vector<task_name> found;
  for (const auto& [name, address] : cluster.tasks)
    if (ref.parts.empty() || name.job == ref.parts[0].id)
      found.push_back(name);
  return found;
}

result<inspection> inspect_cluster(const task_addresses& cluster, const member_list& members,
                                   const inspection_ref& ref, int depth, task_inspections said) {
  composer of{cluster, members, std::move(said)};
  if (ref.parts.empty())
    return of.all(depth);
  const auto& id = ref.parts[0].id;
  return ref.parts[0].kind == "member" ? of.member(id, depth) : of.job(id, depth);
}

} // namespace troupe
