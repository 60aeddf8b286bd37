// The worker owns one task: its devices, containers, programs and running steps (white paper 3).
#pragma once
#include "troupe/actors/fwd.hpp"
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/program/regions.hpp"

#include <caf/actor.hpp>

#include <memory>
#include <vector>

namespace troupe {

struct worker_options {
  task_name self;
  const registry* ops = nullptr;
  std::vector<std::shared_ptr<device>> devices;
  caf::actor membership;             ///< finds other tasks; none in a local session
  std::shared_ptr<step_table> steps; ///< shared with the exchanges
  region_options regions = {};       ///< where programs are cut
  bool deterministic = false;        ///< all programs, whatever their session wants
  bool launch_threads = false;       ///< each accelerator's regions run on a thread of its own
};

/// Understands register_request, run_request, reset_request, list_devices_atom; from exchanges
/// incoming and peer_gone.
caf::actor spawn_worker(caf::actor_system& system, worker_options options);

} // namespace troupe
