// Decides which device runs each node (white paper 3.2.1, 4.3).
#pragma once
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/placement/placement_options.hpp"

#include <memory>
#include <set>

namespace troupe {

/// The devices that a session may use; an unconstrained node goes to the first device that can run
/// it, a GPU of its task before its processor, or whichever of these two is expected to be faster.
using device_list = std::vector<device_name>;

device_kind kind_of(const device_name& where);

/// Whether the devices are those of a local session.
bool is_local(const device_list& devices) noexcept;

class link_costs;
class node_times;
struct placement_report;

/// How place() chooses between devices for nodes that leave it open.
struct placing {
  /// Between a task's GPU and its processor: where all is expected to take the least time, copies
  /// included; else a GPU wherever it has a kernel. Variables, and what changes or draws from a
  /// state, go to a GPU in any case: they have to be in one place in all steps.
  bool by_cost = false;
  const node_times* measured = nullptr; ///< where there is nothing, it is estimated
  placement_strategy strategy = placement_strategy::first_worker;
  const link_costs* links = nullptr; ///< for `greedy`; nothing: all links are usual ones
  /// What asks for a device that is not there, or that has no kernel for it, goes to another one,
  /// as near to it as there is.
  bool soft = false;
  bool explain = false; ///< fills in placement::report
  /// Tasks that are not there: what has no state goes to others, where it may.
  std::set<task_name> avoid = {};
};

/// What place() decided.
struct placement {
  std::vector<int> chosen; ///< an index into the devices per node id; -1 for feeds and fetches
  /// Nodes that asked for a GPU which cannot run them, and run on a processor of the same task.
  std::vector<const node*> moved;
  /// Nodes that asked for a device which is not there, or cannot run them (placing::soft), or that
  /// preferred one (device/preferred_device.hpp).
  std::vector<const node*> softened = {};
  std::shared_ptr<const placement_report> report = {};
};

/// Feeds and fetches go where they are read and made. What shares a variable, queue or table
/// through a ref edge or a handle, and what names the same colocation group (graph/colocation.hpp),
/// is placed together. A set of nodes that asks for a GPU goes to the task's processor where the
/// GPU has no kernel for one of them. Preferred devices that are not there are replaced by the
/// nearest ones: in a local session any, else of the same task. Fails, naming the nodes, for a
/// device that does not exist, for constraints that contradict each other, and where no kernel
/// exists. Takes seconds for 100,000 nodes and 1,000 devices.
result<placement> place(const graph& of, const device_list& devices, const placing& how = {});

} // namespace troupe
