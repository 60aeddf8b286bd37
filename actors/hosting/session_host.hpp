// Hosts sessions of clients in a task: the master of each is an actor here, and the client sends it
// one message a step (docs/decisions/069).
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
  client_options session = {};         ///< of each that a client opens, where it says nothing
  std::shared_ptr<step_server> server; ///< of the task
  std::shared_ptr<cluster_view> view;  ///< what the task knows of its cluster
  bool may_change = false;             ///< that
  connection_trust trust = {};         ///< sessions reach all tasks, this one among them
};

/// Makes the session that a client has opened; it is ended by an exit message.
using session_maker =
    std::function<result<caf::actor>(caf::actor_system& system, const client_options& how)>;

/// Spawns the actor that does all of it: understands incoming, whose `from` is monitored, and gets
/// the answers as outgoing. `in_flight` counts requests that are not answered yet.
caf::actor spawn_session_host(caf::actor_system& system,
                              std::shared_ptr<const hosting_options> options, session_maker make,
                              std::shared_ptr<std::atomic<size_t>> in_flight);

/// Any thread may call. Takes threads from the first session on.
class session_host : public session_request_handler {
public:
  static std::shared_ptr<session_host> make(hosting_options options);

  /// Steps and other requests that are not answered yet.
  virtual size_t in_flight() const = 0;
  /// Ends all sessions, and serves no more. Called before the owner of the exchanges goes.
  virtual void close() = 0;
};

} // namespace troupe
