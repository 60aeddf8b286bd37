// The protocol of one connection between two processes, without the connection: bytes in and out.
// docs/wire-protocol.md describes what travels.
#pragma once
#include "troupe/runtime/cluster/demand.hpp"
#include "troupe/serialization/wire/lending_token.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace troupe {

struct link_options {
  hello self; ///< who we are; the link fills in version, schema, build and limits
  size_t max_message = 1024 * 1024;
  uint64_t max_tensor_bytes = 32ull << 30; ///< of the payloads of one message together
  /// Payloads that are being received at once. More wait at their sender; one alone may be larger.
  uint64_t max_pending_bytes = 1ull << 30;
  /// Messages that wait for their payloads. A sender counts them and keeps within it; a peer that
  /// sends more is cut off.
  size_t max_held_bytes = 64ull << 20;
  /// What waits to be sent while the peer does not read: messages, and payloads of more than one
  /// message. Beyond it, send() fails.
  size_t max_queued_bytes = 64ull << 20;
  uint64_t max_announced_bytes = 32ull << 30;
  size_t inline_tensor = 64 * 1024;
  std::chrono::milliseconds timeout{10'000}; ///< of silence, until the peer is unavailable
  allocator* memory = &heap_allocator();     ///< of received payloads
  uint64_t max_from_memory = UINT64_MAX;     ///< larger ones come from the heap
  /// What `self` names: payloads may be lent to the peer, and are until it is revoked.
  std::shared_ptr<lending_token> lends = {};
};

/// Called by receive() and filled(), on their thread. They may call send(), not these; some more
/// threads, and less that they may do, where it is said.
struct link_callbacks {
  /// Whether to talk to this peer. An error is sent to it and ends the connection. May be empty.
  std::function<status(const hello&)> on_hello = {};
  /// A message with all its tensors. Never one that is sent by the link alone.
  std::function<void(message)> on_message = {};
  /// Whether the announced tensors of a step are wanted; for every change, review() must be called.
  /// Empty: always. By review(), too; must not call the link.
  std::function<demand(step_id)> wanted = {};
  /// There was no memory for a tensor of that step, which is then not wanted. By review(), too.
  std::function<void(step_id, status)> on_lost = {};
  /// A tensor of that step is about to be announced: withdraw() may be called when the step has
  /// failed. By send(); must not call the link.
  std::function<void(step_id)> on_announce = {};
};

/// One end. One thread at a time may read (receive, gap, filled, abandon), one may write
/// (gather, sent, fill), and any may call the rest. After an error every receive() returns it
/// again; then write what gather() still gives (it may be a refusal), and close.
class link {
public:
  link(link_options options, link_callbacks callbacks);
  link(link&&) noexcept;
  link& operator=(link&&) noexcept;
  ~link();

  /// Queues a message. Its tensors must not change until it has left. Fails without effect for what
  /// the peer would not accept or what would wait beyond the limits (resource_exhausted), and after
  /// the connection has failed.
  status send(const message& what);
  /// The connection has ended: what waits is dropped, and nothing can be sent. On the thread that
  /// reads.
  void abandon(status why);

  /// Whether tensors of that step are wanted may have changed: what is due is pulled, and what is
  /// not wanted any more is not to come, wherever it is. Fails as receive() does.
  status review(step_id step);
  /// What was announced of that step, or waits to be, leaves no more; the peer is told.
  status withdraw(step_id step);

  /// Takes bytes as they come, in any portions. Fails with data_loss for damaged bytes,
  /// invalid_argument for a peer that speaks another protocol, resource_exhausted for one that goes
  /// beyond the limits, or with what the peer's refusal says.
  status receive(std::span<const std::byte> bytes);

  /// Where the next bytes of the stream belong, if a body is being read: those that are put there
  /// straight from a socket are told by filled(), and not received.
  std::span<std::byte> gap() const noexcept;
  status filled(size_t bytes);

  /// The peer may send no message with more payload, and as much at once. By on_hello.
  void limit_input(uint64_t bytes);

  /// Has payloads of at least so many bytes read out of the peer's memory, which that function
  /// does; its error ends the connection. By on_hello.
  void read_near(std::function<status(std::span<std::byte> to, uint64_t from)> read,
                 uint64_t from_bytes);
  /// Says whether something waits to be read so; then read_lent() reads so many bytes of it, and
  /// returns how many. On the thread that reads.
  bool reading() const noexcept;
  result<size_t> read_lent(size_t budget);

  /// Appends what is to be written next, at most `window` bytes, and returns how many. Urgent
  /// messages come first, then messages, then payloads in turn, straight from the tensors' memory.
  /// All stays until sent() says how much of it is written; the rest is given again.
  size_t gather(std::vector<std::span<const std::byte>>& pieces, size_t window);
  void sent(size_t bytes);
  /// The same as bytes, which count as sent.
  size_t fill(std::vector<char>& out, size_t window);

  /// Says whether fill() would give nothing now.
  bool idle() const noexcept;
  /// Says whether everything sent has left, payloads that the peer has not pulled yet included.
  bool drained() const noexcept;

  /// Bytes of messages that wait to be sent, and of payloads that have not left.
  struct output_sizes {
    uint64_t messages = 0, payloads = 0;
  };
  output_sizes waiting() const noexcept;

  /// Keeps the connection alive; call a few times per timeout / 3. Sends a ping where nothing was
  /// written for timeout / 3, whether or not the peer is heard, and fails with unavailable when
  /// nothing was heard for the timeout.
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
