// The exchange: an actor that is one end of a connection, a socket around a link (wire/link.hpp).
#pragma once
#include "troupe/actors/base/fwd.hpp"
#include "troupe/runtime/cluster/incarnations.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace troupe {

class access_control;
class byte_stream;
class io_loop;
class session_request_handler;
class tls_identity;

struct exchange_options {
  hello self;                          ///< the first message of this process
  std::optional<task_name> expected;   ///< the task that must answer, if this process connects
  std::string address;                 ///< for error texts
  caf::actor owner;                    ///< a worker, which receives incoming; or null
  caf::actor_addr opener;              ///< the membership: gets peer_ready and peer_gone
  std::shared_ptr<step_server> server; ///< of a task: serves requests of running steps
  std::chrono::milliseconds peer_timeout{10'000};
  std::shared_ptr<io_loop> loop = {}; ///< watches the socket; null: a new one
  bool same_host_reads = true; ///< lends tensors to processes of this machine, and reads theirs
  size_t max_connections = 0;  ///< of a listener; 0: limited by descriptors
  /// To refuse tasks that have been replaced.
  std::shared_ptr<troupe::incarnations> incarnations = {};
  std::shared_ptr<tls_identity> tls = {}; ///< of a listener: peers must use TLS
  std::shared_ptr<troupe::access_control> access_control = {}; ///< the rights of clients; null: all
  /// Of a listener: serves the sessions of clients.
  std::shared_ptr<session_request_handler> session_handler = {};
  /// Of a listener: called on any thread, at a limited rate, when a peer is refused or breaks the
  /// protocol.
  std::function<void(const std::string&)> on_warning = {};
};

/// Spawns the exchange over a connected socket, which it owns from now on. Sends the peer the
/// contents of outgoing, and forget_program.
///
/// Passes these requests on to the peer, and answers them with its reply, or with `unavailable`
/// when the connection ends: wire_registration, run_request, settle_request, end_initialization,
/// reset_request, list_state, ask_positions, inspect_task, drain_atom and list_devices_atom.
/// Handles link_stats_query and step_news itself. An exit message ends the connection.
///
/// It is an inline actor: messages are sent on the sender's thread, as far as the socket accepts
/// them at once.
caf::actor spawn_exchange(caf::actor_system& system, int socket, exchange_options options);
/// As above, over any byte stream. `options` has the loop that watches it.
caf::actor spawn_exchange(caf::actor_system& system, std::unique_ptr<byte_stream> stream,
                          exchange_options options);

/// Spawns an actor that accepts connections at a listening socket, which it owns from now on, and
/// spawns an exchange with these options for each. Refuses connections beyond the limit. Fails, and
/// closes the socket, if the system cannot watch it.
result<caf::actor> spawn_listener(caf::actor_system& system, int socket, exchange_options options);

} // namespace troupe
