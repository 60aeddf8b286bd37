// A thread that waits for sockets, and spins for a moment before it sleeps. docs/decisions/038 and
// 080 have the measurements.
#pragma once
#include "troupe/devices/cpu/cpu_allocator.hpp"
#include "troupe/runtime/types/status.hpp"

#include <caf/fwd.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

namespace troupe {

/// The owner of a socket. All functions are called on the loop's thread, and must not throw.
class socket_handler {
public:
  /// The socket is readable or writable. `scratch` is valid during the call. Returns the number of
  /// bytes that were read and written.
  virtual size_t ready(bool readable, bool writable, std::span<std::byte> scratch) = 0;
  /// Called once in each tick period of io_loop::add().
  virtual void tick(std::chrono::steady_clock::time_point now) = 0;
  /// The last call, after io_loop::remove(). Closes the socket.
  virtual void removed() = 0;

protected:
  ~socket_handler() = default;
};

/// Watches sockets. Any thread may call. Remove all sockets before the loop's last owner ends.
/// Simulations have a loop of their own.
class io_loop {
public:
  /// Returns a new loop for the connections of a system's actors: on the thread of the middleman
  /// of an application's system, if it has one, which then waits for the loop's sockets when it
  /// ends; else with a thread of its own.
  static std::shared_ptr<io_loop> of(caf::actor_system& system);
  /// Returns a new loop with a thread of its own, which ends with the loop's last owner. For peers
  /// that have not proven their identity.
  static std::shared_ptr<io_loop> own(caf::actor_system& system);
  virtual ~io_loop() = default;

  /// Watches a non-blocking socket for input. `keep` is released after removed(). After an error,
  /// the handler gets only ticks until the socket is removed.
  virtual status add(int socket, socket_handler& handler, std::chrono::milliseconds tick_period,
                     std::shared_ptr<void> keep) = 0;
  /// Sets whether the handler is called when the socket is writable.
  virtual void want_writable(int socket, bool wanted) = 0;
  /// Stops watching a socket. The handler's removed() is called later, on the loop's thread.
  virtual void remove(int socket) = 0;
  /// Calls the handler of that socket again soon, after other handlers, even if the socket is not
  /// ready. Call it on the loop's thread.
  virtual void call_again(int) {}
  /// As call_again(), for any thread: for a socket that was just added, whose stream has buffered
  /// input.
  virtual void call_soon(int) {}

  /// Whether its thread is also that of a host's middleman. Actors of the host may wait for that
  /// thread, for instance for the answer of a remote actor, so they must not run on it.
  virtual bool is_shared() const noexcept { return false; }

  /// The allocator of received tensors: large payloads of a step use the memory of the previous
  /// step's. The cache is released when little is received.
  virtual allocator& memory() noexcept = 0;
};

} // namespace troupe
