// Branches, loops and calls whose functions run as steps within the step, in frames
// (docs/decisions/051). Which they are says placement/frame_choice.hpp.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

/// Whether a node changes a variable, table or other state: itself, or what its functions do.
bool changes(const node& by, const node& state);

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
