// Branches, loops and calls whose functions run as steps within the step, in frames
// (docs/decisions/051). placement/frame_choice.hpp decides which do.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

/// Returns whether a node changes state such as a variable or table, directly or in its functions.
bool changes_state(const node& user, const node& state);

/// The effects of a frame that must be ordered. Each has a loop variable that carries no value,
/// only the order. Overlapping iterations of a loop keep the order of each.
struct frame_order {
  std::vector<const node*> states; ///< changed by iterations that overlap; each once
  bool others = false;             ///< other effects; without overlap, all effects

  size_t size() const noexcept { return states.size() + (others ? 1 : 0); }
};
/// Returns the effects that the runs of a node's functions must keep in order.
frame_order order_of_iterations(const node& frame);

/// Returns whether iterations of a loop may start before earlier iterations have ended.
bool iterations_overlap(const node& loop);

/// Returns the outputs that a frame computes, without the state that it passes through.
std::vector<int> frame_outputs(const node& frame);

/// Returns the outputs of a loop that are equal in all iterations, as indices of frame_outputs().
std::vector<int64_t> unchanged_outputs(const node& loop);

} // namespace troupe
