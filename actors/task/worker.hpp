// The actor that owns one task: its devices, containers and programs (white paper 3). Requests of
// running steps do not go through it: step_server.hpp.
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
  caf::actor membership;                 ///< finds other tasks; null in a local session
  std::shared_ptr<step_server> server;   ///< of the task; shared with the exchanges
  std::shared_ptr<resources> state = {}; ///< of the task, shared, too; null: the worker makes it
  std::shared_ptr<const task_inspector> inspector = {}; ///< null: the task cannot be inspected
  std::function<void()> on_drain = {};                  ///< called when an operator drains the task
  region_options regions = {};                          ///< how programs are cut into regions
  bool deterministic = false;           ///< all programs, also of sessions that do not request it
  bool launch_threads = false;          ///< regions of each accelerator run on their own thread
  bool own_thread = false;              ///< the worker does not wait behind kernels
  size_t kernel_threads = 0;            ///< threads for kernels only; 0: the scheduler's run them
  bool kernels_handle_messages = false; ///< kernel_threads::options::handles_messages
};

/// Handles register_request, run_request, settle_request, forget_program, reset_request,
/// list_devices_atom, list_state, ask_positions, health_check and outgoing of a master in this
/// process, and incoming of exchanges.
caf::actor spawn_worker(caf::actor_system& system, worker_options options);

} // namespace troupe
