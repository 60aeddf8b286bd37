// For programs that are made of CAF actors themselves: a session as one more actor of their system.
// The one public header with CAF types.
#pragma once
#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/session_messages.hpp"
#include "troupe/actors/hosting/hosting_limits.hpp"
#include "troupe/api/session.hpp"
#include "troupe/runtime/export.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

namespace troupe {

/// Spawns a session in the caller's actor system, with a task of its own in this process. It
/// understands, and answers an error (see from_caf()) where that fails:
///
/// - `prepare_request` (see its make()): a `std::shared_ptr<prepared_step>`, compiles a step
/// - `step_request`: a `step_outcome`, runs it
/// - `reset_request`: a `status`, forgets a container's variables
/// - `list_devices_atom`: a `std::vector<device_info>`
///
/// It ends, with all its actors, when it gets an exit message; prepared steps must be gone before
/// the actor system is. Kernels run on threads of the session's own (session_options::
/// threads.inter_op), and never on those of the scheduler, which its actors share with the
/// caller's. What a step shall watch for, its request says: step_request::watch counts instead of
/// session_options::insight.
TROUPE_API caf::actor spawn_session(caf::actor_system& system, const session_options& options = {},
                                    std::source_location where = std::source_location::current());

/// Spawns one that runs on the tasks of a cluster.
TROUPE_API caf::actor spawn_session(caf::actor_system& system, const cluster_spec& cluster,
                                    const session_options& options = {},
                                    std::source_location where = std::source_location::current());

/// Spawns an actor that other CAF nodes may use, where a program publishes it (caf::io). Clients
/// there share the session, and its variables, within these limits; what one of them has prepared
/// goes when its actor ends, and its steps end with their deadlines. Ends with the session. Whoever
/// reaches it can do what this program's user can: CAF's own transport trusts all its peers.
TROUPE_API caf::actor publish_session(caf::actor_system& system, const caf::actor& session,
                                      const hosting_limits& limits = {});

/// Spawns an actor that understands what that of spawn_session() does, and has one do it that
/// another node has published. Graphs and tensors travel as bytes, which CAF carries: of a message,
/// at most 256 MiB of tensors. `timeout` is the patience with a published actor that is gone.
TROUPE_API caf::actor use_session(caf::actor_system& system, const caf::actor& published,
                                  std::chrono::milliseconds timeout = std::chrono::seconds{60},
                                  std::source_location where = std::source_location::current());

} // namespace troupe
