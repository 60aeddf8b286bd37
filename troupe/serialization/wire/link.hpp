// The protocol of one connection between two processes, without the connection: bytes in and out.
// docs/wire-protocol.md describes what travels.
#pragma once
#include "troupe/serialization/wire/messages.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace troupe {

struct link_options {
  hello self; ///< who we are; the link fills in version and limits
  size_t max_message = 1024 * 1024;
  uint64_t max_tensor_bytes = 32ull << 30; ///< of the payloads of one message together
  /// Payloads that are being received at once. More wait at their sender; one alone may be larger.
  uint64_t max_pending_bytes = 1ull << 30;
  /// Messages that wait for their payloads or for their turn; a peer that sends more is cut off.
  size_t max_held_bytes = 64ull << 20;
  size_t inline_tensor = 64 * 1024;
  std::chrono::milliseconds timeout{10'000}; ///< of silence, until the peer is unavailable
  allocator* memory = &heap_allocator();     ///< of received payloads
};

/// Called by receive(), on its thread. They may call send(), not receive().
struct link_callbacks {
  /// Whether to talk to this peer. An error is sent to it and ends the connection. May be empty.
  std::function<status(const hello&)> on_hello;
  /// A message with all its tensors. Never hello, refusal, pull, ping or pong.
  std::function<void(message)> on_message;
};

/// One end. Not thread-safe: belongs to whoever owns the socket. After an error every receive()
/// returns it again; then write what fill() still gives (it may be a refusal), and close.
class link {
public:
  link(link_options options, link_callbacks callbacks);
  link(link&&) noexcept;
  link& operator=(link&&) noexcept;
  ~link();

  /// Queues a message. Its tensors must not change until it has left. Fails without effect for what
  /// the peer would not accept (resource_exhausted) and after the connection has failed.
  status send(const message& what);

  /// Takes bytes as they come, in any portions. Fails with data_loss for damaged bytes,
  /// invalid_argument for a peer that speaks another protocol, resource_exhausted for one that goes
  /// beyond the limits, or with what the peer's refusal says.
  status receive(std::span<const std::byte> bytes);

  /// Appends at most `window` bytes that are to be written next, and returns how many. Urgent
  /// messages come first, then messages, then payloads in turn, straight from the tensors' memory.
  size_t fill(std::vector<char>& out, size_t window);

  /// Says whether fill() would give nothing now.
  bool idle() const noexcept;
  /// Says whether everything sent has left, payloads that the peer has not pulled yet included.
  bool drained() const noexcept;

  /// Keeps the connection alive; call a few times per timeout / 3. Sends a ping into a silence, and
  /// fails with unavailable when nothing was heard for the timeout.
  status tick(std::chrono::steady_clock::time_point now);

  /// The peer's hello, or nullptr before it came.
  const hello* peer() const noexcept;

  /// Bytes of memory that received payloads and held messages occupy.
  uint64_t pending_bytes() const noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace troupe
