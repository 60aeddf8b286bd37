// Cuts a placed graph into one graph per device, joined by Send and Recv (white paper 3.2.2).
#pragma once
#include "troupe/runtime/graph/f32_transfer.hpp"
#include "troupe/runtime/placement/late_recv.hpp"
#include "troupe/runtime/placement/place.hpp"

#include <map>
#include <memory>

namespace troupe {

/// The part of a step that one device runs: a graph with _Feed, _Fetch, _Send and _Recv nodes at
/// its boundary. Keys are unique in the step.
struct partition {
  device_name device;
  std::unique_ptr<graph> nodes;
  /// For a function that runs as a frame (functions/frame.hpp): the number of its _Frame, and the
  /// index of the function in it. 0 for the step itself.
  uint32_t frame = 0, function = 0;
  std::string of_node = {}; ///< the node that the frame runs, as in errors
};

/// A node that runs as a frame.
struct placed_frame {
  uint32_t number = 0;          ///< in the step
  std::vector<int> others = {}; ///< a device of each other task that runs a part of the frame
};
using placed_frames = std::map<const node*, placed_frame>;

/// For each node, nodes that it must follow in addition to its control edges, without depending on
/// them.
using extra_order = std::map<const node*, std::vector<node*>>;

/// Makes a partition for each device that has nodes, with one Recv per (tensor, destination). Each
/// partition that reads a feed has its own. A variable that is read on another device, or after an
/// update that its reader must not see, gets a _Read on its own device.
///
/// `placed` must be in topological order, as extract() makes it, and `chosen` is the result of
/// place() for it. A node in `frames` becomes a _Frame. In `order`, each node must follow those
/// that it is to run after. If `between_tasks` is not exact, a Cast precedes each Send of floats to
/// another task, and another one follows its Recv. A tensor in `late` is sent once the given node
/// of the receiver has run.
result<std::vector<partition>> cut(const graph& placed, const std::vector<int>& chosen,
                                   const device_list& devices, const placed_frames& frames = {},
                                   const extra_order& order = {},
                                   f32_transfer between_tasks = f32_transfer::exact,
                                   const late_requests& late = {});

} // namespace troupe
