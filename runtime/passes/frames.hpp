// Builds the graphs of functions that run as frames (functions/frame.hpp), each a step of its own.
#pragma once
#include "troupe/runtime/passes/extract.hpp"
#include "troupe/runtime/placement/partition.hpp"

#include <functional>

namespace troupe {

/// Sets the device of each branch and loop without one to the device that the nodes of its
/// functions, or the state that these use, name.
void infer_devices_from_bodies(graph& target);

/// Returns which nodes must run before or after frames with which they share variables or tables,
/// in the order of the graph, if one of them changes the state. Redirects edges that a frame passes
/// through to their source.
result<extra_order> order_around_frames(graph& target, const std::vector<node*>& frames);

/// The devices of the parts of a frame.
struct frame_places {
  std::string boundary_device;                             ///< the device of arguments and results
  std::function<std::string(const node& state)> device_of; ///< returns the device of state
};

/// Builds the graph of one of the functions of a node: of a branch; or of a loop, where function 0
/// is the condition before the first iteration, and function 1 the body followed by the condition
/// for the next iteration. The graph has a _FrameArgument for each value argument, and then one for
/// each ordering variable (functions/frame.hpp). It has a _FrameResult for each computed output,
/// but not for outputs that no iteration changes and not in the first condition; then one for each
/// ordering variable; and last, in a loop, one for the condition.
result<step_graph> frame_graph(const node& caller, size_t function, const frame_places& places);

} // namespace troupe
