// The master of one session: prunes, optimizes, places and cuts graphs, registers the parts with
// workers, and runs steps that involve other processes (white paper 3.1, OSDI 4).
#pragma once
#include "troupe/actors/session/client.hpp"
#include "troupe/runtime/passes/passes.hpp"

#include <caf/actor.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace troupe {

struct master_options {
  uint64_t session = 0; ///< random; identifies the session in the ids of its steps
  std::string container;
  program_options programs = {};
  const node_times* measured = nullptr; ///< measured costs of nodes; must outlive the master
  const link_times* links = nullptr;    ///< measured transfers between tasks; as `measured`
  device_list devices;                  ///< the first is the default
  pass_options passes = {};
  std::shared_ptr<device> host = {};       ///< folds constants; null: no constants are folded
  std::map<task_name, caf::actor> workers; ///< in this process
  caf::actor membership;                   ///< finds other tasks; none in a local session
  bool may_change = false;     ///< tasks join and leave: a request for a missing task waits for it
  bool jobs_are_final = false; ///< with may_change: no task of a new job will join
  std::chrono::milliseconds patience{10'000}; ///< to list devices and to reset containers
  std::function<void(const std::string&)> on_warning = {};
  restore_hooks lost_state = {};
};

/// Understands prepare_request, explain_request, step_request, reset_request, list_devices_atom,
/// survey_devices, survey_state and known_devices_atom.
caf::actor spawn_master(caf::actor_system& system, master_options options);

/// Returns the number of the next step that its caller drives. Any thread.
uint64_t next_local_step();

} // namespace troupe
