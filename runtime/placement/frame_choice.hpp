// Decides which branches, loops and calls run as frames (docs/decisions/051), and which of these on
// a GPU (docs/decisions/063). All others are blocks of a processor's region.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/placement/place.hpp"

#include <set>
#include <vector>

namespace troupe {

/// All devices that the node, its functions and the state that they use name.
std::set<std::string> named_devices(const node& of);

/// The device that all allow that say something: the node, those of its functions, and the state
/// that they use. Fails where they contradict each other.
result<device_name> device_of_functions(const node& of);

/// Whether a GPU is asked to run the functions, or they use a variable that names no kind of
/// device and would lie on one. Those that call themselves do not run there.
bool belongs_to_gpu(const node& of);

/// Whether a node that runs functions has to run them as frames among these devices: a node of them
/// waits, they and the state that they use are to lie on more than one device, or may have to, or
/// a GPU is to run them. The answer for a node stays the same while a step is planned.
bool needs_frame(const node& of, const device_list& devices);

/// The nodes of a graph that need frames, in its order.
std::vector<node*> find_frames(const graph& of, const device_list& devices);

} // namespace troupe
