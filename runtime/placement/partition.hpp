// Cuts a placed graph into one graph per device, joined by Send and Recv (white paper 3.2.2).
#pragma once
#include "troupe/runtime/graph/f32_transfer.hpp"
#include "troupe/runtime/placement/late_recv.hpp"
#include "troupe/runtime/placement/place.hpp"

#include <map>
#include <memory>

namespace troupe {

/// What one device runs in a step: a graph of its own, in which _Feed, _Fetch, _Send and _Recv
/// nodes stand for what comes from and goes to the outside. Keys are unique in the step.
struct partition {
  device_name device;
  std::unique_ptr<graph> nodes;
  /// Of a function that runs as a frame (functions/frame.hpp): the number of its _Frame, and which
  /// of its functions it is. 0: of the step itself.
  uint32_t frame = 0, function = 0;
  std::string of_node = {}; ///< that the frame is for, as errors call it
};

/// A node that runs as a frame.
struct placed_frame {
  uint32_t number = 0;          ///< in the step
  std::vector<int> others = {}; ///< a device of each other task that runs a part of it
};
using placed_frames = std::map<const node*, placed_frame>;

/// What nodes come after beside what the graph says, and without depending on it.
using further_order = std::map<const node*, std::vector<node*>>;

/// Makes a partition for each device that has something to do, with one Recv per (tensor,
/// destination). A feed is in each partition that reads it. A variable that is read elsewhere, or
/// behind an update that its reader must not see, gets a _Read beside it. `of` is ordered by
/// dependence, as extract() makes it, and `chosen` is what place() returned for it. A node among
/// `frames` becomes a _Frame. In `order`, each node stands behind those that it comes after. Where
/// floats do not travel exactly `between_tasks`, a Cast stands before each Send of them to another
/// task, and one behind its Recv. What is among `late` is sent when the node of the receiver has
/// run that is named there.
result<std::vector<partition>> cut(const graph& of, const std::vector<int>& chosen,
                                   const device_list& devices, const placed_frames& frames = {},
                                   const further_order& order = {},
                                   f32_transfer between_tasks = f32_transfer::exact,
                                   const late_sends& late = {});

} // namespace troupe
