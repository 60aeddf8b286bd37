// Reads the memory of another process of this machine, which lends its tensors.
#pragma once
#include "troupe/serialization/wire/messages.hpp"

#include <optional>
#include <span>

#include <sys/types.h>

namespace troupe {

/// The memory of one peer. Any thread may call.
class process_memory_reader {
public:
  /// Returns whether both ends of a socket may be on this machine. The hello to other machines
  /// contains no addresses.
  static bool within_machine(int socket);

  /// Returns nothing if the peer at the other end of the socket is not a process of this machine
  /// that lends its memory, or if the system does not allow reading it. The process must own the
  /// other end of the socket, so that a peer cannot claim to be another process. It must belong to
  /// the same user, because root could read any memory.
  static std::optional<process_memory_reader> find(int socket, const hello& peer);

  /// Copies to.size() bytes from the address `from` of the peer. Fails with invalid_argument for an
  /// address that is not in the peer's memory, with unavailable if the peer has ended the
  /// connection: then the bytes may not be the tensor's.
  status read(std::span<std::byte> to, uint64_t from) const;

private:
  process_memory_reader(pid_t process, const hello& peer)
      : process_(process), token_at_(peer.token_address), token_(peer.token) {}

  pid_t process_;
  uint64_t token_at_;
  std::array<uint64_t, 2> token_;
};

} // namespace troupe
