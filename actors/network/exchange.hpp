// The exchange is the data channel to one peer: a socket around a link (wire/link.hpp).
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
  hello self;
  std::optional<task_name> expected;   ///< who must answer, where we have called
  std::string address;                 ///< for error texts
  caf::actor owner;                    ///< gets incoming; a worker, or nobody
  caf::actor_addr opener;              ///< the membership: gets peer_ready and peer_gone
  std::shared_ptr<step_server> server; ///< of a task: serves what belongs to running steps
  std::chrono::milliseconds peer_timeout{10'000};
  std::shared_ptr<io_loop> loop = {}; ///< that waits for its socket; none: one of its own
  bool near_memory = true;            ///< lends tensors to processes of this machine, and borrows
  size_t max_connections = 0;         ///< of a listener; 0: what the limit of descriptors allows
  std::shared_ptr<incarnations> known = {};    ///< refuses tasks that have been replaced
  std::shared_ptr<tls_identity> tls = {};      ///< of a listener: who calls has to speak TLS
  std::shared_ptr<access_control> access = {}; ///< what clients may do; none: all
  /// Of a listener: serves sessions of clients.
  std::shared_ptr<session_request_handler> host = {};
  /// Of a listener: told on any thread who was not let in or has broken a rule, now and then.
  std::function<void(const std::string&)> on_warning = {};
};

/// Spawns the exchange over a connected socket, which it owns from now on. Understands outgoing,
/// and in its peer's place wire_registration, run_request, settle_request, end_fill, reset_request
/// and list_devices_atom; each is answered, at the latest with `unavailable` when the connection
/// ends. An inline actor: what is sent leaves on the sender's thread, as far as the socket takes it
/// at once.
caf::actor spawn_exchange(caf::actor_system& system, int socket, exchange_options options);
/// The same over anything that bytes go through; `options` has the loop that watches it.
caf::actor spawn_exchange(caf::actor_system& system, std::unique_ptr<byte_stream> stream,
                          exchange_options options);

/// Spawns an actor that accepts connections at a listening socket, which it owns from now on, and
/// gives each an exchange with these options. One connection too many is refused. Fails, and closes
/// the socket, where the system does not watch it.
result<caf::actor> spawn_listener(caf::actor_system& system, int socket, exchange_options options);

} // namespace troupe
