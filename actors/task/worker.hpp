// The worker owns one task: its devices, containers and programs (white paper 3). What belongs to
// running steps is served beside it: step_server.hpp.
#pragma once
#include "troupe/actors/base/fwd.hpp"
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/program/regions.hpp"

#include <caf/actor.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace troupe {

class resources;
class task_inspector;

struct worker_options {
  const registry* ops = nullptr;
  std::vector<std::shared_ptr<device>> devices;
  caf::actor membership;                 ///< finds other tasks; none in a local session
  std::shared_ptr<step_server> server;   ///< of the task; shared with the exchanges
  std::shared_ptr<resources> state = {}; ///< of the task, likewise; by default its own
  std::shared_ptr<const task_inspector> inspector = {}; ///< none: others can see nothing
  std::function<void()> on_drain = {};                  ///< an operator wants the task to end
  region_options regions = {};                          ///< where programs are cut
  bool deterministic = false;           ///< all programs, whatever their session wants
  bool launch_threads = false;          ///< each accelerator's regions run on a thread of its own
  bool own_thread = false;              ///< it does not wait behind kernels
  size_t kernel_threads = 0;            ///< that run kernels alone; 0: those of the scheduler do
  bool kernels_handle_messages = false; ///< kernel_threads::options::handles_messages
};

/// Understands register_request, run_request, settle_request, forget_program, reset_request,
/// list_devices_atom, list_state, ask_positions, knock and outgoing, of a master in this process;
/// from exchanges incoming.
caf::actor spawn_worker(caf::actor_system& system, worker_options options);

} // namespace troupe
