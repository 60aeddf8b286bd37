// A report for people: the reason for each node's device, and the expected times.
#pragma once
#include "troupe/runtime/export.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

struct placed_node {
  std::string node = {}, op = {};
  std::string device = {}; ///< "/job:ps/task:0/device:cpu:0"; empty: a feed or a fetch
  std::string reason = {}; ///< "asked for '/job:ps'"
  double end_ns = 0;       ///< expected end, from the step's begin
};

/// The traffic from one task to another in a step.
struct link_use {
  std::string from = {}, to = {}; ///< "/job:ps/task:0"
  uint64_t tensors = 0;           ///< including control messages without a tensor
  double bytes = 0;               ///< with a usual batch for each unknown extent
};

struct placement_report {
  std::string strategy = {};           ///< "first worker", "greedy"
  std::vector<placed_node> nodes = {}; ///< in the order of the step
  double total_ns = 0;                 ///< of a step, without feeds and fetches
  double first_worker_ns = 0;          ///< of a step with the first_worker strategy
  std::vector<link_use> links = {};
};

/// Formats a line for each node, and the totals.
TROUPE_API std::string to_string(const placement_report& report);

} // namespace troupe
