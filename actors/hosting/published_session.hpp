// A session that other CAF nodes use: what session_host and remote_session say to each other, as
// bytes that CAF carries, in the place of a connection.
#pragma once
#include "troupe/actors/hosting/hosting_limits.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/atom.hpp>

#include <chrono>
#include <vector>

namespace troupe {

/// Either way: a session_request or a session_reply, as encode() writes it, with all its tensors;
/// or a refusal, which ends it. Both types are CAF's own.
using hosted_atom = caf::atom_constant<caf::atom("hosted")>;
using hosted_bytes = std::vector<char>;

/// Lets clients on other nodes use a session; ends with it. `ops` must outlive it.
caf::actor spawn_published_session(caf::actor_system& system, const caf::actor& session,
                                   const registry& ops, const hosting_limits& limits);

/// Spawns the actor of a session that a published one has.
caf::actor spawn_session_by(caf::actor_system& system, const caf::actor& published,
                            std::chrono::milliseconds timeout);

} // namespace troupe
