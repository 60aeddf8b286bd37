// A session for other CAF nodes: the messages of session_host and remote_session, as bytes that CAF
// transports instead of a connection.
#pragma once
#include "troupe/actors/hosting/hosting_limits.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/atom.hpp>

#include <chrono>
#include <vector>

namespace troupe {

/// In both directions: a session_request or session_reply as written by encode(), with all its
/// tensors; or a refusal, which ends the session. Both types are types of CAF.
using hosted_atom = caf::atom_constant<caf::atom("hosted")>;
using hosted_bytes = std::vector<char>;

/// Spawns the actor that serves a session to clients on other nodes. It ends with the session.
/// `ops` must outlive it.
caf::actor spawn_published_session(caf::actor_system& system, const caf::actor& session,
                                   const registry& ops, const hosting_limits& limits);

/// Spawns the session actor of a client of a published session. `timeout` is that of steps that
/// name no deadline.
caf::actor spawn_published_client(caf::actor_system& system, const caf::actor& published,
                                  std::chrono::milliseconds timeout);

} // namespace troupe
