// Divides the nodes of a partition into regions.
#pragma once
#include "troupe/runtime/placement/cost.hpp"

#include <vector>

namespace troupe {

struct region_options {
  /// For debugging: each node is a region of its own, so that only messages order the nodes.
  bool region_per_node = false;
  /// All reads and updates of a variable happen in the order of the nodes (order_effects.hpp).
  bool strict_order = false;
  /// The number of branches that are worth running at the same time; with 1, none are separated.
  int workers = 1;
  /// Whether the device runs one large node on several threads: such nodes are not worth running in
  /// parallel with others.
  bool nodes_use_all_threads = false;
  /// Whether the launches of a region on an accelerator may be recorded and replayed (replay.hpp).
  bool replay = true;
  /// Cost of dispatching work to another thread, in nanoseconds. Branches that cost less than a few
  /// dispatches are not separated.
  double dispatch_ns = 20'000;
  /// Measured times; without them, costs are estimated from shapes.
  const node_times* measured = nullptr;
};

/// The region of each node, by node id. A node that waits ends in the region of its answer
/// (`region_of_node`) and is issued from another region (`issuing_region`; for all other nodes,
/// both are equal).
struct region_map {
  std::vector<uint32_t> region_of_node, issuing_region;
  uint32_t count = 0; // region 0 waits for nothing
};

/// Groups the nodes that depend on exactly the same waits and heavy branches. An edge can only lead
/// to a region that depends on more of these, so the regions form no cycle, whatever the graph is.
region_map find_regions(const graph& source, const region_options& options = {});

/// Returns whether a node has nothing to run: it stands for state, or for a feed, which exist from
/// the start.
bool needs_no_run(const node& node);

/// Returns the cost, in nanoseconds, from which work is worth another thread: a few dispatches.
double min_dispatch_cost(const region_options& options);

} // namespace troupe
