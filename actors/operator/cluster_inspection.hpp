// The part of what there is that no single task knows: the cluster and its jobs, put together from
// what tasks say.
#pragma once
#include "troupe/runtime/insight/inspection.hpp"
#include "troupe/runtime/insight/inspection_ref.hpp"
#include "troupe/serialization/discovery/address_source.hpp"

#include <map>
#include <vector>

namespace troupe {

/// What tasks have said of themselves, or why they have not.
using task_inspections = std::map<task_name, result<inspection>>;

/// How deep tasks are to be asked for an inspection of the cluster ("/") or a job ("/job:ps") that
/// is `depth` deep; negative: not at all, as for a member ("/member:ps:0"). Nothing where the ref
/// is another. The scope's kinds count below tasks only.
std::optional<int> depth_of_tasks(const inspection_ref& ref, int depth) noexcept;

/// The tasks of the cluster, or of the job, that a ref names.
std::vector<task_name> tasks_below(const task_addresses& cluster, const inspection_ref& ref);

/// The cluster, a job, or a member of a cluster that is joined (of another one, `members` is
/// empty). A task that has said nothing has its address alone, and one that could not be asked the
/// property "error". Fails with not_found for a job or a member that the cluster does not have.
result<inspection> inspect_cluster(const task_addresses& cluster, const member_list& members,
                                   const inspection_ref& ref, int depth, task_inspections said);

} // namespace troupe
