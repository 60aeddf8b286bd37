// A session's options for the placement of nodes.
#pragma once
#include <cstdint>

namespace troupe {

/// The choice of a device among those that can run a node.
enum class placement_strategy : uint8_t {
  first_worker, ///< the first device; a GPU of its task before its processor
  /// The device on which the node ends first in a simulated run of the step in topological order
  /// (white paper 3.2.1). Nodes with state stay where first_worker places them, because they must
  /// have the same place in all steps.
  greedy,
};

/// The time at which tensors from other tasks are requested (white paper 5.2).
enum class recv_schedule : uint8_t {
  eager, ///< as soon as they are ready
  /// Shortly before their first reader needs them by the estimated times, if that is much later:
  /// the receiver then needs less memory.
  late,
};

struct placement_options {
  placement_strategy strategy = placement_strategy::first_worker;
  /// Nodes that request a missing device, or one that cannot run them, run on the nearest one, with
  /// a warning: first on the same task, then on the same kind and job, then anywhere.
  bool soft = false;
  recv_schedule receives = recv_schedule::eager;
};

} // namespace troupe
