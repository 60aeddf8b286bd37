// Compiles a kind of step for a master, on the thread of its clerk.
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

/// What a clerk needs for its work, without the master.
struct preparation {
  prepare_request what;
  plan_options plan;
  program_options programs;
  const node_times* source = nullptr; // of what is measured
  node_times measured;                // of the graph
  const link_times* ways = nullptr;   // what is measured of links
  link_costs links;
  uint64_t session = 0;
  std::string container;
  std::set<task_name> here; // tasks of this process
  stop_signal stop;
  std::shared_ptr<step_graph> work = {}; // what passes change; by default that of the request
  step_plan made;
};

/// Decides what runs where, and cuts the graph; not where nobody waits any more.
status plan_step(preparation& of);
/// The same, and makes what the tasks are sent.
result<std::shared_ptr<prepared_step>> make_step(preparation& of);

} // namespace troupe
