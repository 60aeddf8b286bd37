// The exchange is the data channel to one peer: a broker around a link (wire/link.hpp).
#pragma once
#include "troupe/actors/fwd.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>

#include <chrono>
#include <memory>
#include <optional>

namespace troupe {

struct exchange_options {
  hello self;
  std::optional<task_name> expected; ///< who must answer, where we have called
  std::string address;               ///< for error texts
  caf::actor owner;                  ///< gets incoming and peer_gone; a worker, or nobody
  caf::actor_addr opener;            ///< gets peer_ready and peer_gone: the membership
  std::shared_ptr<step_table> steps; ///< where tensors go; none in a client
  std::chrono::milliseconds peer_timeout{10'000};
};

/// Spawns the exchange over a connected socket, which it owns from now on. Understands outgoing,
/// and in its peer's place register_request, run_request, reset_request and list_devices_atom; each
/// is answered, at the latest with `unavailable` when the connection ends.
caf::actor spawn_exchange(caf::actor_system& system, int socket, exchange_options options);

/// Spawns a broker that accepts connections at a listening socket, which it owns from now on, and
/// gives each an exchange with these options.
caf::actor spawn_listener(caf::actor_system& system, int socket, exchange_options options);

} // namespace troupe
