// The memory of another process of this machine, which lends us what lies there.
#pragma once
#include "troupe/serialization/wire/messages.hpp"

#include <optional>
#include <span>

#include <sys/types.h>

namespace troupe {

class near_memory {
public:
  /// Says whether both ends of a socket may be of this machine: others need not learn addresses.
  static bool within_machine(int socket);

  /// Nothing where the peer at the other end of that socket is no process of here that lends its
  /// memory, or the system does not let us read it. It must own the other end: who says that it is
  /// another process is not believed. Nor are other users, whose memory we could read as root.
  static std::optional<near_memory> find(int socket, const hello& peer);

  /// Fails with invalid_argument for an address that is not in its memory, with unavailable when
  /// the connection has ended there: then what was read may be something else.
  status read(std::span<std::byte> to, uint64_t from) const;

private:
  near_memory(pid_t process, const hello& peer)
      : process_(process), token_at_(peer.token_at), token_(peer.token) {}

  pid_t process_;
  uint64_t token_at_;
  std::array<uint64_t, 2> token_;
};

} // namespace troupe
