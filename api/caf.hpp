// Sessions as actors, for programs that are made of CAF actors themselves. This is the only public
// header with CAF types.
#pragma once
#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/session_messages.hpp"
#include "troupe/actors/hosting/hosting_limits.hpp"
#include "troupe/api/session.hpp"
#include "troupe/runtime/export.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

namespace troupe {

/// Spawns a session in the caller's actor system, with a task of its own in this process. The actor
/// handles these messages. It answers an error (see from_caf()) where a request fails.
///
/// - `prepare_request` (see its make()): a `std::shared_ptr<prepared_step>`, compiles a step
/// - `step_request`: a `step_outcome`, runs it
/// - `reset_request`: a `status`, clears a container's variables
/// - `list_devices_atom`: a `std::vector<device_info>`
///
/// The actor ends, with all its child actors, when it gets an exit message. Prepared steps must be
/// destroyed before the actor system is. Kernels run on the session's own threads
/// (session_options::threads.inter_op) and never on the scheduler's, which the session's actors
/// share with the caller's. The request of a step selects what is recorded about it:
/// step_request::watch applies instead of session_options::insight.
TROUPE_API caf::actor spawn_session(caf::actor_system& system, const session_options& options = {},
                                    std::source_location where = std::source_location::current());

/// Spawns a session that runs on the tasks of a cluster.
TROUPE_API caf::actor spawn_session(caf::actor_system& system, const cluster_spec& cluster,
                                    const session_options& options = {},
                                    std::source_location where = std::source_location::current());

/// Spawns an actor that other CAF nodes may use after the program publishes it (caf::io). Remote
/// clients share the session and its variables, within these limits. A client's prepared steps are
/// released when its actor ends, and its steps end with their deadlines. The published actor ends
/// with the session. A process that can reach it has the rights of this program's user: CAF's own
/// transport trusts all its peers.
TROUPE_API caf::actor publish_session(caf::actor_system& system, const caf::actor& session,
                                      const hosting_limits& limits = {});

/// Spawns an actor that handles the messages of spawn_session() and forwards them to an actor that
/// another node has published. Graphs and tensors travel as bytes in CAF messages, with at most 256
/// MiB of tensors in each. A published actor that does not answer within `timeout` counts as gone.
TROUPE_API caf::actor use_session(caf::actor_system& system, const caf::actor& published,
                                  std::chrono::milliseconds timeout = std::chrono::seconds{60},
                                  std::source_location where = std::source_location::current());

} // namespace troupe
