// A thread that waits for sockets, and looks again and again for a moment before it sleeps.
// docs/decisions/038 says what was measured.
#pragma once
#include "troupe/devices/cpu/cpu_allocator.hpp"
#include "troupe/runtime/types/status.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

namespace troupe {

/// What a socket belongs to. All functions are called on the loop's thread, and must not throw.
class socket_handler {
public:
  /// The socket may be read or written. `scratch` may be used until this returns. Returns how many
  /// bytes came or left.
  virtual size_t ready(bool readable, bool writable, std::span<std::byte> scratch) = 0;
  virtual void tick(std::chrono::steady_clock::time_point now) = 0;
  /// Last, after io_loop::remove(): closes the socket.
  virtual void removed() = 0;

protected:
  ~socket_handler() = default;
};

/// Watches sockets. Any thread may call. What make() returns has a thread, which ends with its last
/// owner; that must not be before the last socket is removed. A simulation has another.
class io_loop {
public:
  static std::shared_ptr<io_loop> make();
  virtual ~io_loop() = default;

  /// Watches a socket, which is to be non-blocking, for input. `keep` goes after removed(). Where
  /// it fails, the handler is told the time alone, until the socket is removed like others.
  virtual status add(int socket, socket_handler& handler, std::chrono::milliseconds tick_period,
                     std::shared_ptr<void> keep) = 0;
  /// Says whether the handler wants to know when the socket can be written.
  virtual void want_writable(int socket, bool wanted) = 0;
  virtual void remove(int socket) = 0;
  /// Has the handler called again soon, after others, whatever its socket does. On the loop's
  /// thread.
  virtual void call_again(int) {}
  /// The same, on any thread: for one that was just added, and has input that its socket does not
  /// tell of.
  virtual void call_soon(int) {}

  /// Of what comes: large payloads of one step lie where those of the last have lain. What is
  /// cached goes when little comes any more.
  virtual allocator& memory() noexcept = 0;
};

} // namespace troupe
