// A thread that waits for sockets, and looks again and again for a moment before it sleeps.
// docs/decisions/038 says what was measured.
#pragma once
#include "troupe/devices/cpu/cpu_allocator.hpp"

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

/// Any thread may call. The thread ends with the last owner of the loop, which must not be before
/// the last socket is removed.
class io_loop {
public:
  static std::shared_ptr<io_loop> make();
  ~io_loop();

  /// Watches a socket, which is to be non-blocking, for input. `keep` goes after removed().
  void add(int socket, socket_handler& handler, std::chrono::milliseconds tick_period,
           std::shared_ptr<void> keep);
  /// Says whether the handler wants to know when the socket can be written.
  void want_writable(int socket, bool wanted);
  void remove(int socket);

  /// Of what comes: large payloads of one step lie where those of the last have lain. What is
  /// cached goes when little comes any more.
  allocator& memory() noexcept;

private:
  struct state;
  explicit io_loop(std::shared_ptr<state> shared);
  std::shared_ptr<state> state_;
};

} // namespace troupe
