// Makes graphs of the functions that run as frames (functions/frame.hpp), each a step's of its own.
#pragma once
#include "troupe/runtime/passes/extract.hpp"
#include "troupe/runtime/placement/partition.hpp"

#include <functional>

namespace troupe {

/// Gives branches and loops the device that nodes of their functions, or the state that they use,
/// name, where they name none.
void take_devices_from_bodies(graph& of);

/// Says how what shares variables and tables with frames comes before or after them, as it stands
/// in the graph, where one of them changes these. Takes what frames hand on from where it lies.
result<further_order> order_around_frames(graph& of, const std::vector<node*>& frames);

/// Where parts of a frame lie.
struct frame_places {
  std::string here; ///< arguments and results
  std::function<std::string(const node& state)> device_of;
};

/// Makes the graph of one of the functions of a node: of a branch; or of a loop, where the first is
/// the condition for the first turn, and the second the body with the condition for the next. A
/// _FrameArgument stands for each value that it is given, and then for each variable of its order
/// (functions/frame.hpp). A _FrameResult stands for each output that it computes, but not for those
/// that no turn changes, nor in a first condition, then for each variable of its order, and last,
/// in a loop, for the condition.
result<step_graph> frame_graph(const node& of, size_t function, const frame_places& places);

} // namespace troupe
