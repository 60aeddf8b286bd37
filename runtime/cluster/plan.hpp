// Plans a step before it is registered: assigns its parts to tasks (white paper 3.2). Knows no
// actors; may take seconds for large graphs.
#pragma once
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/placement/partition.hpp"

#include <string>
#include <vector>

namespace troupe {

struct plan_options {
  device_list devices;
  place_options how = {};
  pass_options passes = {};
  std::shared_ptr<device> host = {}; ///< evaluates constant expressions
  f32_transfer transfer_precision = f32_transfer::exact;
  recv_schedule receives = recv_schedule::eager;
};

/// The part of one task in a step.
struct task_plan {
  task_name task;
  std::vector<partition> partitions;
  std::vector<uint32_t> feeds;  ///< the step's feeds that it needs, in order
  std::vector<size_t> partners; ///< other tasks of the plan with which it exchanges tensors
};

struct step_plan {
  std::vector<task_plan> tasks;
  /// Nodes that should run on a GPU and cannot: the first of each op, with a message.
  std::vector<std::pair<std::string, std::string>> moved;
  /// The same for nodes that requested a missing device (place_options::soft), by the requested
  /// device.
  std::vector<std::pair<std::string, std::string>> softened;
  /// Of the step itself, without its frames (place_options::explain).
  std::shared_ptr<const placement_report> report = {};
};

/// Optimizes, places and cuts a step, and changes its graph. Fails with `deadline_exceeded` once
/// `stop`, if given, is due. Throws nothing.
result<step_plan> make_plan(step_graph& planned, const plan_options& options, stop_signal* stop);

} // namespace troupe
