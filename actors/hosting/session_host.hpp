// Hosts sessions of clients in a task: the master of each session is an actor of the task, and the
// client sends it one message for each step (docs/decisions/069).
#pragma once
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/hosting/hosting_limits.hpp"
#include "troupe/actors/membership/membership.hpp"
#include "troupe/actors/network/session_request_handler.hpp"
#include "troupe/actors/session/session.hpp"
#include "troupe/serialization/discovery/cluster_view.hpp"

#include <atomic>
#include <functional>
#include <memory>

namespace troupe {

struct hosting_options {
  hosting_limits limits = {};
  client_options session = {};         ///< defaults for the sessions of clients
  std::shared_ptr<step_server> server; ///< of the task
  std::shared_ptr<cluster_view> view;  ///< the cluster, as the task knows it
  bool may_change = false;             ///< `view` may change
  connection_trust trust = {};         ///< for the connections of sessions to tasks
};

/// Spawns the session that a client has opened. It ends at an exit message.
using session_factory =
    std::function<result<caf::actor>(caf::actor_system& system, const client_options& options)>;

/// Spawns the actor that serves the requests. It receives them as `incoming`, monitors their
/// `from`, and answers it by `outgoing`. `in_flight` counts unanswered requests.
caf::actor spawn_session_host(caf::actor_system& system,
                              std::shared_ptr<const hosting_options> options, session_factory make,
                              std::shared_ptr<std::atomic<size_t>> in_flight);

/// Any thread may call. Starts its threads at the first request.
class session_host : public session_request_handler {
public:
  /// Returns a host with threads of its own (threaded_host.cpp).
  static std::shared_ptr<session_host> make(hosting_options options);

  /// Returns the number of unanswered steps and other requests.
  virtual size_t in_flight() const = 0;
  /// Ends all sessions and serves no more. Must be called before the owner of the exchanges ends.
  virtual void close() = 0;
};

} // namespace troupe
