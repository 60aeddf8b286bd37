// Branches and loops whose functions wait, or run on several devices: each function runs as a step
// within the step, in a frame (docs/decisions/051).
#pragma once
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

/// Whether a node that runs functions has to run them as frames: a node of them waits, or they and
/// the state that they use are to lie on more than one device, or may have to.
bool needs_frame(const node& of);

/// The nodes of a graph that need frames, in its order.
std::vector<node*> find_frames(const graph& of);

/// Whether a node changes a variable, table or other state: itself, or what its functions do.
bool changes(const node& by, const node& state);

/// The device that all allow that say something: the node, those of its functions, and the state
/// that they use. Fails where they contradict each other.
result<device_name> device_of_functions(const node& of);

/// What a frame has done when it has ended, in the order of the graph: each has a variable that
/// carries nothing but this. Turns of a loop that overlap keep the order of each.
struct frame_order {
  std::vector<const node*> states; ///< that turns which overlap change; each once
  bool others = false;             ///< other effects; all, where nothing overlaps

  size_t size() const noexcept { return states.size() + (others ? 1 : 0); }
};
frame_order order_of_turns(const node& of);

/// Whether turns of a loop may begin before those before them have ended.
bool turns_overlap(const node& of);

/// The outputs that a frame computes: no state that it hands on.
std::vector<int> frame_outputs(const node& of);

/// Those of a loop that are the same in all turns, as places among frame_outputs().
std::vector<int64_t> unchanged_outputs(const node& of);

} // namespace troupe
