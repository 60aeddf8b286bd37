// Decides which nodes of a partition form a region.
#pragma once
#include "troupe/runtime/placement/cost.hpp"

#include <vector>

namespace troupe {

struct region_options {
  /// Debugging: each node is a region of its own, so that all depends on messages alone.
  bool one_per_node = false;
  /// All reads and updates of a variable happen in the order of the nodes (order_effects.hpp).
  bool strict_order = false;
  /// How many branches can be worth running at once; with 1, parallel branches stay together.
  int workers = 1;
  /// Whether the device runs one large node on several threads: such nodes need no others beside
  /// them.
  bool nodes_use_all_threads = false;
  /// Whether what a region launches on an accelerator may be noted down and repeated (replay.hpp).
  bool replay = true;
  /// What it costs to give work to another thread, in nanoseconds: a branch that is cheaper than a
  /// few of these stays where it is.
  double dispatch_ns = 20'000;
  /// Without one, estimates from shapes count.
  const node_times* measured = nullptr;
};

/// The region of each node, by node id. A node that waits ends in the region of its answer (`of`)
/// and is issued from another (`issued_from`; the same number for all other nodes).
struct region_map {
  std::vector<uint32_t> of, issued_from;
  uint32_t count = 0; // region 0 waits for nothing
};

/// Puts nodes together that depend on exactly the same waits and heavy branches. An edge can only
/// lead to a region that depends on more of these, so that the regions form no cycle, whatever the
/// graph is.
region_map find_regions(const graph& of, const region_options& options = {});

/// Whether a node has nothing to run: it stands for state or for a feed, which are there from the
/// start.
bool is_at_hand(const node& node);

/// What counts as worth another thread: a few hand-overs.
double worth_dispatching(const region_options& options);

} // namespace troupe
