#include "troupe/api/caf.hpp"
// Spawns sessions as actors of the caller's system.

#include "troupe/actors/hosting/published_session.hpp"
#include "troupe/actors/session/session.hpp"
#include "troupe/api/internal/client_options.hpp"
#include "troupe/api/internal/durations.hpp"

namespace troupe {
namespace {

caf::actor session_of(result<caf::actor> spawned, const std::source_location& where) {
  if (!spawned)
    throw error{spawned.status().with_context(concat("spawn_session (", to_string(where), ')'))};
  return *std::move(spawned);
}

} // namespace

caf::actor spawn_session(caf::actor_system& system, const session_options& options,
                         std::source_location where) {
  return session_of(spawn_local_session(system, to_client(options, where)), where);
}

caf::actor spawn_session(caf::actor_system& system, const cluster_spec& cluster,
                         const session_options& options, std::source_location where) {
  return session_of(spawn_cluster_session(system, cluster, to_remote_client(options, where)),
                    where);
}

caf::actor publish_session(caf::actor_system& system, const caf::actor& session,
                           const hosting_limits& limits) {
  return spawn_published_session(system, session, library(), limits);
}

caf::actor use_session(caf::actor_system& system, const caf::actor& published,
                       std::chrono::milliseconds timeout, std::source_location where) {
  if (auto valid = check_duration("timeout", timeout, std::chrono::milliseconds{1}); !valid)
    throw error{std::move(valid).with_context(concat("use_session (", to_string(where), ')'))};
  return spawn_published_client(system, published, timeout);
}

} // namespace troupe
