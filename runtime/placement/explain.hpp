// Explains the device that place() chose for each node.
#pragma once
#include "troupe/runtime/placement/constraints.hpp"
#include "troupe/runtime/placement/feasible.hpp"
#include "troupe/runtime/placement/placement_report.hpp"
#include "troupe/runtime/placement/simulation.hpp"

namespace troupe {

/// The information that place() used for its choices.
struct placement_grounds {
  const node_sets& sets;
  const std::vector<feasible_devices::choice>& answers; ///< by set
  std::vector<decision> decisions;                      ///< by node id; of the greedy strategy
  bool greedy_was_worse = false;                        ///< its choices were dropped
};

/// `first_worker` has the choices without regard to costs.
placement_report explain(const graph& placed, const device_list& devices,
                         const place_options& options, const std::vector<int>& chosen,
                         const std::vector<int>& first_worker, const placement_grounds& grounds);

} // namespace troupe
