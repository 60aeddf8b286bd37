// Opens and accepts TCP connections, within a deadline.
#pragma once
#include "troupe/runtime/types/status.hpp"
#include "troupe/runtime/types/step_clock.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

/// The address of a task or service.
struct address {
  std::string host;
  uint16_t port = 0;
  /// Reads "host:port" or "[::1]:port". Does not resolve the host.
  static result<address> parse(std::string_view text);
};

std::string to_string(const address& endpoint);

/// Returns whether the host is this machine's loopback interface: 127.x.x.x, ::1 or localhost.
bool is_loopback(const std::string& host);

/// Owns a socket.
class socket_handle {
public:
  explicit socket_handle(int descriptor = -1) : descriptor_(descriptor) {}
  socket_handle(socket_handle&& other) noexcept : descriptor_(other.release()) {}
  socket_handle& operator=(socket_handle&& other) noexcept;
  ~socket_handle();
  int get() const noexcept { return descriptor_; }
  int release() noexcept { return std::exchange(descriptor_, -1); }

private:
  int descriptor_;
};

/// Returns a connected, non-blocking socket. Retries with pauses until the deadline while no
/// process listens, because tasks may start in any order; with `single_attempt`, tries only once.
/// Fails soon after `stop` becomes true. Blocks the thread.
result<socket_handle> dial(const address& endpoint, step_clock::time_point deadline,
                           const std::atomic<bool>& stop, bool single_attempt = false);

/// Returns a listening, non-blocking socket and its port, which the system chooses if that of
/// `endpoint` is 0.
result<std::pair<socket_handle, uint16_t>> listen_at(const address& endpoint);

} // namespace troupe
