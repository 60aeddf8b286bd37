// The session actor: forwards the requests of a client to a master, in any actor system.
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

class resources;             // actors/task/resources.hpp
class step_server;           // actors/task/step_server.hpp
struct membership_transport; // actors/membership/membership.hpp

/// The task of a local session.
inline const task_name local_task{"local", 0};

/// The parts of a local session's task that its port for operators reads.
struct local_task_parts {
  std::shared_ptr<step_server> server;
  std::shared_ptr<resources> state;
  std::vector<std::shared_ptr<device>> devices;
  /// Has the worker call a function, to check that it handles messages. Any thread.
  std::function<void(std::function<void()>)> check_health;
};

/// The port at which a local session serves operators.
struct local_port {
  uint16_t http = 0; ///< the port of client_options::http; 0: not served
  uint64_t session = 0;
  /// Records steps that callers drive themselves, for operators; null where nothing is served.
  std::shared_ptr<step_server> server;
};

/// Spawns a session with a task of its own in this process. If the system has threads, the kernels
/// run on other threads (client_options::inter_op_threads). Understands prepare_request,
/// step_request, reset_request, list_devices_atom, survey_devices, survey_state and
/// known_devices_atom. Ends, with all its actors, at an exit message. `measured`, if given, has the
/// costs of nodes and must outlive the session. With a `port`, the system must have no actors but
/// those of the session and its client.
result<caf::actor> spawn_local_session(caf::actor_system& system, const client_options& options,
                                       const node_times* measured = nullptr,
                                       local_port* port = nullptr);

/// Spawns a session that connects to the cluster's tasks when a step needs them. `transport`, if
/// given, replaces the usual transport.
result<caf::actor> spawn_cluster_session(caf::actor_system& system, const cluster_access& cluster,
                                         const client_options& options,
                                         const node_times* measured = nullptr,
                                         const membership_transport* transport = nullptr,
                                         const link_times* links = nullptr);

/// Spawns the session actor of a master, or of another session. Ends the actors in `owned` and
/// releases `kept` when it ends.
caf::actor spawn_session_actor(caf::actor_system& system, const caf::actor& master,
                               const std::vector<caf::actor>& owned,
                               const std::shared_ptr<void>& kept = nullptr);

} // namespace troupe
