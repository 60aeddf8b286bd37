// Membership knows who is in the cluster, and how to reach them (a static cluster spec so far).
#pragma once
#include "troupe/actors/fwd.hpp"
#include "troupe/runtime/device_name.hpp"
#include "troupe/serialization/cluster.hpp"

#include <caf/actor.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace troupe {

struct membership_options {
  cluster_spec cluster;
  std::string role; ///< "task" or "client"
  task_name self;   ///< of a task
  uint64_t incarnation = 0;
  std::chrono::milliseconds peer_timeout{10'000};
  caf::actor owner;                  ///< of the exchanges: the worker; nobody in a client
  std::shared_ptr<step_table> steps; ///< of a task
};

/// Understands connect_request: answers with a link whose peer has introduced itself as the task, or
/// with `unavailable` after the deadline at the latest. A link serves until its connection ends.
caf::actor spawn_membership(caf::actor_system& system, membership_options options);

} // namespace troupe
