// The session actor: the client's face of a master, in whatever actor system it is spawned.
#pragma once
#include "troupe/actors/base/session_messages.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/serialization/discovery/address_source.hpp"

#include <caf/actor.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace troupe {

class resources;        // actors/task/resources.hpp
class step_server;      // actors/task/step_server.hpp
struct membership_ways; // actors/membership/membership.hpp

/// The task of a local session.
inline const task_name local_task{"local", 0};

/// The parts of a local session's task that its port for operators shows.
struct local_task_parts {
  std::shared_ptr<step_server> server;
  std::shared_ptr<resources> state;
  std::vector<std::shared_ptr<device>> devices;
  /// Has the worker call that function, on any thread.
  std::function<void(std::function<void()>)> knock;
};

/// What a local session serves for operators.
struct local_port {
  uint16_t http = 0; ///< where client_options::http is served; 0: nowhere
  uint64_t session = 0;
  /// Told of steps that callers run by themselves, for operators; null where nothing is served.
  std::shared_ptr<step_server> server;
};

/// Spawns a session with a task of its own in this process, whose kernels have threads of their own
/// (client_options::inter_op_threads) where the system has threads. Understands prepare_request,
/// step_request, reset_request, list_devices_atom, survey_devices, survey_state and
/// known_devices_atom; ends, with all its actors, at an exit message. `measured`, if given, says
/// what nodes cost; it must stay as long as the session. With a `port`, the system must have no
/// actors but the session's and its client's.
result<caf::actor> spawn_local_session(caf::actor_system& system, const client_options& options,
                                       const node_times* measured = nullptr,
                                       local_port* port = nullptr);

/// Spawns a session that reaches the cluster's tasks when they are needed, by the usual ways where
/// no others are given.
result<caf::actor> spawn_cluster_session(caf::actor_system& system, const cluster_access& cluster,
                                         const client_options& options,
                                         const node_times* measured = nullptr,
                                         const membership_ways* ways = nullptr,
                                         const link_times* links = nullptr);

/// Spawns the face of a master, or of another session; `owned` end with it, and `kept` goes.
caf::actor spawn_session_face(caf::actor_system& system, const caf::actor& master,
                              const std::vector<caf::actor>& owned,
                              const std::shared_ptr<void>& kept = nullptr);

} // namespace troupe
