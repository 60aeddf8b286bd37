// Puts into words why place() has chosen a device for each node.
#pragma once
#include "troupe/runtime/placement/constraints.hpp"
#include "troupe/runtime/placement/feasible.hpp"
#include "troupe/runtime/placement/placement_report.hpp"
#include "troupe/runtime/placement/simulation.hpp"

namespace troupe {

/// What place() knew when it chose.
struct placement_grounds {
  const node_sets& sets;
  const std::vector<feasible_devices::choice>& answers; ///< by set
  std::vector<decision> decisions;                      ///< by node id; of the greedy strategy
  bool greedy_was_worse = false;                        ///< so that nothing came of it
};

/// `first_worker` is what would have been chosen without a look at costs.
placement_report explain(const graph& of, const device_list& devices, const placing& how,
                         const std::vector<int>& chosen, const std::vector<int>& first_worker,
                         const placement_grounds& why);

} // namespace troupe
