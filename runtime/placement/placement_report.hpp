// Why each node of a step runs where it does, and what that is expected to cost: for people.
#pragma once
#include "troupe/runtime/export.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

struct placed_node {
  std::string node = {}, op = {};
  std::string device = {}; ///< "/job:ps/task:0/device:cpu:0"; empty: a feed or a fetch
  std::string why = {};    ///< "asked for '/job:ps'"
  double end_ns = 0;       ///< when it is expected to have run, after the step's begin
};

/// What goes from one task to another in a step.
struct link_use {
  std::string from = {}, to = {}; ///< "/job:ps/task:0"
  uint64_t tensors = 0;           ///< orders without a tensor among them
  double bytes = 0;               ///< unknown extents count as many
};

struct placement_report {
  std::string strategy = {};           ///< "first worker", "greedy"
  std::vector<placed_node> nodes = {}; ///< in the order of the step
  double total_ns = 0;                 ///< of a step, without feeds and fetches
  double first_worker_ns = 0;          ///< the same where no node is placed by its cost
  std::vector<link_use> links = {};
};

/// A line for each node, and the sums.
TROUPE_API std::string to_string(const placement_report& what);

} // namespace troupe
