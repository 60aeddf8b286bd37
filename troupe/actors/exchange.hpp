// The exchange is the data channel to one peer: an actor around a link (wire/link.hpp), a broker
// where the link's bytes go through a socket.
#pragma once
#include "troupe/actors/fwd.hpp"
#include "troupe/runtime/cluster/incarnations.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/atom.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace troupe {

struct exchange_options {
  hello self;
  std::optional<task_name> expected;   ///< who must answer, where we have called
  std::string address;                 ///< for error texts
  caf::actor owner;                    ///< gets incoming; a worker, or nobody
  caf::actor_addr opener;              ///< gets peer_ready and peer_gone: the membership
  std::shared_ptr<step_server> server; ///< of a task: serves what belongs to running steps
  std::chrono::milliseconds peer_timeout{10'000};
  std::shared_ptr<incarnations> known = {}; ///< refuses tasks that have been replaced
};

/// What carries an exchange's bytes to its peer.
class connection {
public:
  virtual ~connection() = default;
  /// flush() writes what was appended to it.
  virtual std::vector<char>& buffer() = 0;
  virtual void flush() = 0;
  /// What was flushed still leaves.
  virtual void close() = 0;
};

/// Connection -> exchange: bytes of the peer. No answer.
struct bytes_came {
  std::vector<char> bytes;
};
/// Connection -> exchange: something was written, so much has not been yet. No answer.
struct bytes_left {
  size_t remaining = 0;
};
/// Connection -> exchange: it is at its end. No answer.
using connection_ended_atom = caf::atom_constant<caf::atom("connended")>;

/// Spawns the exchange over a connected socket, which it owns from now on. Understands outgoing,
/// and in its peer's place wire_registration, run_request, reset_request and list_devices_atom;
/// each is answered, at the latest with `unavailable` when the connection ends.
caf::actor spawn_exchange(caf::actor_system& system, int socket, exchange_options options);

/// The same over any connection, which tells the exchange what happens.
caf::actor spawn_exchange(caf::actor_system& system, std::shared_ptr<connection> connection,
                          exchange_options options);

/// Spawns a broker that accepts connections at a listening socket, which it owns from now on, and
/// gives each an exchange with these options.
caf::actor spawn_listener(caf::actor_system& system, int socket, exchange_options options);

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::bytes_came)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::bytes_left)
