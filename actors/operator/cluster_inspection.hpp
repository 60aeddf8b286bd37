// The inspection of a cluster and its jobs, combined from the inspections of tasks.
#pragma once
#include "troupe/runtime/insight/inspection.hpp"
#include "troupe/runtime/insight/inspection_ref.hpp"
#include "troupe/serialization/discovery/address_source.hpp"

#include <map>
#include <vector>

namespace troupe {

/// The inspection of each task that was asked, or the error of a task without one.
using task_inspections = std::map<task_name, result<inspection>>;

/// Returns the depth at which tasks must be inspected for an inspection of the cluster ("/") or of
/// a job ("/job:ps") at `depth`. A negative result means that no task is asked, as for a member
/// ("/member:ps:0"). Returns nullopt for other refs. inspection_scope::kinds applies to the parts
/// of tasks only.
std::optional<int> depth_of_tasks(const inspection_ref& ref, int depth) noexcept;

/// Returns the tasks of the cluster or the job that a ref names.
std::vector<task_name> tasks_below(const task_addresses& cluster, const inspection_ref& ref);

/// Inspects the cluster, a job, or a member of a cluster that tasks join (`members` is empty for
/// other clusters). A task without an inspection has only its address; a task that could not be
/// asked has the property "error". Fails with not_found for an unknown job or member.
result<inspection> inspect_cluster(const task_addresses& cluster, const member_list& members,
                                   const inspection_ref& ref, int depth,
                                   task_inspections inspections);

} // namespace troupe
