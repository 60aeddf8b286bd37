// The master of one session: prunes, optimizes, places, cuts, registers with workers, and runs
// steps that take more than this process (white paper 3.1, OSDI 4).
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
  uint64_t session = 0; ///< random; names its steps
  std::string container;
  program_options programs = {};
  const node_times* measured = nullptr; ///< what is known of costs; must stay
  const link_times* links = nullptr;    ///< the same of what goes from task to task
  device_list devices;                  ///< the first is the default
  pass_options passes = {};
  std::shared_ptr<device> host = {}; ///< computes what is constant; without one nothing is folded
  std::map<task_name, caf::actor> workers; ///< in this process
  caf::actor membership;                   ///< finds the others; none in a local session
  bool may_change = false; ///< tasks come and go: what asks for one that is not there waits for it
  bool jobs_are_final = false; ///< among these, only tasks of jobs that are known now come
  std::chrono::milliseconds patience{10'000}; ///< with tasks that list devices or reset containers
  std::function<void(const std::string&)> on_warning = {};
  restore_hooks lost_state = {};
};

/// Understands prepare_request, explain_request, step_request, reset_request, list_devices_atom,
/// survey_devices, survey_state and known_devices_atom.
caf::actor spawn_master(caf::actor_system& system, master_options options);

/// The number of another step that its caller drives; any thread.
uint64_t next_local_step();

} // namespace troupe
