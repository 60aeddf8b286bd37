// Decides which branches, loops and calls run as frames (docs/decisions/051), and which of them on
// a GPU (docs/decisions/063). The others are blocks of a region on a processor.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/placement/place.hpp"

#include <set>
#include <vector>

namespace troupe {

/// Returns the device names that the node, its functions and the state that they use request.
std::set<std::string> named_devices(const node& caller);

/// Returns the device that matches all of these names. Fails if they contradict each other.
result<device_name> device_of_functions(const node& caller);

/// Returns whether the functions request a GPU, or use a variable that names no kind of device and
/// would be on a GPU. Recursive functions do not run there.
bool belongs_to_gpu(const node& caller);

/// Returns whether a node that runs functions must run them as a frame on these devices: if one of
/// their nodes waits, if they and the state that they use are or may be on more than one device, or
/// if a GPU is to run them. The result for a node stays the same while a step is planned.
bool needs_frame(const node& caller, const device_list& devices);

/// Returns the nodes of a graph that need frames, in its order.
std::vector<node*> find_frames(const graph& placed, const device_list& devices);

} // namespace troupe
