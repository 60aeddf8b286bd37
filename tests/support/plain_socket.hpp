// Sockets for tests that act as an unknown peer, which does not follow the protocol.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace troupe::test {

/// A connection to a port on loopback. Reads and writes wait at most two seconds.
class plain_connection {
public:
  explicit plain_connection(uint16_t port);
  explicit plain_connection(int descriptor) : descriptor_(descriptor) {}
  plain_connection(plain_connection&& other) noexcept;
  ~plain_connection();

  bool write(std::string_view bytes);
  /// Reads until the peer closes; `closed` is set to whether it did within the time.
  std::string read_to_end(bool& closed);
  int descriptor() const noexcept { return descriptor_; }

private:
  int descriptor_ = -1;
};

/// Listens at a port and treats each connection in the given manner.
class plain_server {
public:
  enum class manner { silent, echoes, http, closes };
  plain_server(uint16_t port, manner peer_manner);
  ~plain_server();

private:
  int listener_ = -1;
  std::jthread thread_;
};

} // namespace troupe::test
