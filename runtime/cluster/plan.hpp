// What a step becomes before it is registered: which task runs what (white paper 3.2). Knows no
// actors; may take seconds for large graphs.
#pragma once
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/placement/partition.hpp"

#include <string>
#include <vector>

namespace troupe {

struct plan_options {
  device_list devices;
  placing how = {};
  pass_options passes = {};
  std::shared_ptr<device> host = {}; ///< computes what is constant
  f32_transfer between_tasks = f32_transfer::exact;
  recv_schedule receives = recv_schedule::eager;
};

/// What one task does in a step.
struct task_plan {
  task_name task;
  std::vector<partition> partitions;
  std::vector<uint32_t> feeds;  ///< which of the step's feeds it needs, in order
  std::vector<size_t> partners; ///< other tasks of the plan that it exchanges tensors with
};

struct step_plan {
  std::vector<task_plan> tasks;
  /// Nodes that should run on a GPU and cannot: the first of each op, and a text about it.
  std::vector<std::pair<std::string, std::string>> moved;
  /// The same of nodes that asked for a device that is not there (placing::soft), by what they ask.
  std::vector<std::pair<std::string, std::string>> softened;
  std::shared_ptr<const placement_report> report = {}; ///< of the step itself (placing::explain)
};

/// Optimizes, places and cuts a step. Nothing throws.
result<step_plan> make_plan(step_graph& of, const plan_options& options, stop_signal* stop);

} // namespace troupe
