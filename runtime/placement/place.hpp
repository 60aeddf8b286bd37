// Decides which device runs each node (white paper 3.2.1, 4.3).
#pragma once
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/placement/placement_options.hpp"

#include <memory>
#include <set>

namespace troupe {

/// The devices that a session may use. An unconstrained node goes to the first device that can run
/// it, a GPU of its task before its processor, or to the one of these two that is expected to be
/// faster.
using device_list = std::vector<device_name>;

device_kind kind_of(const device_name& device);

/// Returns whether the devices are those of a local session.
bool is_local(const device_list& devices) noexcept;

class link_costs;
class node_times;
struct placement_report;

/// Options of place() for nodes whose device is not determined by constraints.
struct place_options {
  /// Chooses between a task's GPU and its processor by the least expected total time, including
  /// copies; else a GPU wherever it has a kernel. Variables, and nodes that update or draw from a
  /// state, go to a GPU in any case, because they must have the same place in all steps.
  bool by_cost = false;
  const node_times* measured = nullptr; ///< measured times; the others are estimated
  placement_strategy strategy = placement_strategy::first_worker;
  const link_costs* links = nullptr; ///< for `greedy`; null: all links have the usual cost
  /// A node that requests a missing device, or one without a kernel for it, goes to the nearest
  /// device that can run it.
  bool soft = false;
  bool explain = false; ///< fills in placement::report
  /// Tasks that are absent: nodes without state go to other tasks, where constraints allow it.
  std::set<task_name> avoid = {};
};

/// The result of place().
struct placement {
  std::vector<int> chosen; ///< an index into the devices per node id; -1 for feeds and fetches
  /// Nodes that requested a GPU that cannot run them, and run on a processor of the same task.
  std::vector<const node*> moved_to_host;
  /// Nodes that run on another device than requested, because it is missing or cannot run them
  /// (place_options::soft), or that did not get a preferred device (device/preferred_device.hpp).
  std::vector<const node*> replaced_requests = {};
  std::shared_ptr<const placement_report> report = {};
};

/// Chooses a device for each node except feeds and fetches. Nodes that share a variable, queue or
/// table through a ref edge or a handle, and nodes that name the same colocation group
/// (graph/colocation.hpp), get the same device. A set of nodes that requests a GPU goes to the
/// task's processor if the GPU has no kernel for one of them. Preferred devices that are missing
/// are replaced by the nearest ones: in a local session by any, else on the same task. Fails,
/// naming the nodes, for a device that does not exist, for contradicting constraints, and if no
/// kernel exists. Takes seconds for 100,000 nodes and 1,000 devices.
result<placement> place(const graph& placed, const device_list& devices,
                        const place_options& options = {});

} // namespace troupe
