// Compiles a kind of step for a master, on the thread of its background executor.
#pragma once
#include "troupe/actors/base/session_messages.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/actors/session/prepared_step.hpp"
#include "troupe/runtime/cluster/plan.hpp"
#include "troupe/runtime/device/stop_signal.hpp"
#include "troupe/runtime/insight/link_times.hpp"
#include "troupe/runtime/placement/link_costs.hpp"

#include <set>

namespace troupe {

/// The input of the compilation of a step, and its plan. The compilation uses no other data of the
/// master, because it runs on another thread.
struct preparation {
  prepare_request request;
  plan_options options;
  program_options programs;
  const node_times* session_times = nullptr; // measured times of nodes of all graphs
  node_times graph_times;                    // of the nodes of this graph
  const link_times* session_links = nullptr; // measured transfers between tasks
  link_costs links;
  uint64_t session = 0;
  std::string container;
  std::set<task_name> local_tasks; // of this process
  stop_signal stop;
  std::shared_ptr<step_graph> graph_copy = {}; // for the passes; null: they change the request's
  step_plan plan;
};

/// Places the nodes and cuts the graph. Fails with `cancelled` if the preparation was stopped.
status plan_step(preparation& job);
/// Plans the step as plan_step() does, and writes the registrations of its parts.
result<std::shared_ptr<prepared_step>> make_step(preparation& job);

} // namespace troupe
