// Decides which device runs each node (white paper 3.2.1).
#pragma once
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

/// The devices that a session may use; an unconstrained node goes to the first device that can run
/// it, a GPU of its task before its processor, or whichever of these two is expected to be faster.
using device_list = std::vector<device_name>;

device_kind kind_of(const device_name& where);

class node_times;

/// How place() chooses between a task's GPU and its processor for nodes that name neither.
struct placing {
  /// Where all is expected to take the least time, copies included; else a GPU wherever it has a
  /// kernel. Variables, and what changes or draws from a state, go to a GPU in any case: they have
  /// to be in one place in all steps.
  bool by_cost = false;
  const node_times* measured = nullptr; ///< for `by_cost`; where there is nothing, it is estimated
};

/// What place() decided.
struct placement {
  std::vector<int> chosen; ///< an index into the devices per node id; -1 for feeds and fetches
  /// Nodes that asked for a GPU which cannot run them, and run on a processor of the same task.
  std::vector<const node*> moved;
};

/// Feeds and fetches go where they are read and made. What shares a variable, queue or table
/// through a ref edge is placed together. A set of nodes that asks for a GPU goes to the task's
/// processor where the GPU has no kernel for one of them. Fails, naming the node, for a device that
/// does not exist, for constraints that contradict each other, and where no kernel exists.
result<placement> place(const graph& of, const device_list& devices, const placing& how = {});

} // namespace troupe
