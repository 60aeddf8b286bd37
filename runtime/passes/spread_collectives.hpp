// Implements collective operations between tasks by nodes and edges (docs/decisions/060).
#pragma once
#include "troupe/runtime/graph/f32_transfer.hpp"
#include "troupe/runtime/passes/extract.hpp"
#include "troupe/runtime/placement/place.hpp"

namespace troupe {

/// Rewrites each collective operation whose members are on several tasks. Members of one task still
/// use a local collective. Between tasks, each task owns pieces of the tensor: it receives these
/// pieces of all tasks, reduces them in the order of the tasks, and sends the result to all.
/// `between_tasks` is the encoding of floats that are sent. All members get the same bits, even if
/// floats are rounded. `chosen` has the devices that place() returned for the graph, and is updated
/// for the new graph. Returns whether the graph changed. Fails as check_members() does
/// (graph/collective_group.hpp).
result<bool> spread_collectives(step_graph& step, std::vector<int>& chosen,
                                const device_list& devices,
                                f32_transfer between_tasks = f32_transfer::exact);

} // namespace troupe
