// Collective operations between tasks, as nodes and edges (docs/decisions/060).
#pragma once
#include "troupe/runtime/graph/f32_transfer.hpp"
#include "troupe/runtime/passes/extract.hpp"
#include "troupe/runtime/placement/place.hpp"

namespace troupe {

/// Rewrites each collective operation whose members were placed on several tasks. Within a task it
/// stays one; between tasks each owns pieces of the tensor, gets these of all others, reduces them
/// in the order of the tasks, and sends the result to all. All members get the same bits, also
/// where floats do not travel exactly `between_tasks`. `chosen` is what place() returned for the
/// graph, and comes to be that of the new one. Says whether anything was changed. Fails as
/// check_members() does (graph/collective_group.hpp).
result<bool> spread_collectives(step_graph& of, std::vector<int>& chosen,
                                const device_list& devices,
                                f32_transfer between_tasks = f32_transfer::exact);

} // namespace troupe
