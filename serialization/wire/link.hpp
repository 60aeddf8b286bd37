// The protocol of one connection between two processes, independent of the transport: bytes in and
// out. docs/wire-protocol.md describes the messages.
#pragma once
#include "troupe/runtime/cluster/fetch_decision.hpp"
#include "troupe/serialization/wire/lending_token.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace troupe {

struct link_options {
  hello self; ///< this process; the link fills in version, schema, build and limits
  size_t max_message = 1024 * 1024;
  uint64_t max_tensor_bytes = 32ull << 30; ///< of the payloads of one message together
  /// Payloads in reception. More wait at their sender; a single payload may be larger.
  uint64_t max_pending_bytes = 1ull << 30;
  /// Received messages that wait for their payloads. A sender keeps within the limit of its peer;
  /// exceeding it ends the connection.
  size_t max_held_bytes = 64ull << 20;
  /// Limits of the output while the peer does not read: messages, and payloads of more than one
  /// message. Beyond them, send() fails.
  size_t max_queued_bytes = 64ull << 20;
  uint64_t max_announced_bytes = 32ull << 30;
  size_t inline_tensor = 64 * 1024;
  std::chrono::milliseconds timeout{10'000}; ///< of silence, until the peer is unavailable
  allocator* memory = &heap_allocator();     ///< of received payloads
  uint64_t max_pooled_payload = UINT64_MAX;  ///< larger payloads are allocated on the heap
  /// The token that `self` names. Payloads may be lent to the peer until the token is revoked.
  std::shared_ptr<lending_token> memory_token = {};
};

/// Called by receive() and commit(), on their thread. Callbacks may call send(), but not these two.
/// The members name further threads and restrictions.
struct link_callbacks {
  /// Accepts or rejects this peer. An error is sent to it and ends the connection. May be empty.
  std::function<status(const hello&)> on_hello = {};
  /// A message with all its tensors. Messages that only links send are not passed on.
  std::function<void(message)> on_message = {};
  /// Whether the announced tensors of a step are wanted. Every change requires a call of review().
  /// Empty: always. Also called by review(); must not call the link.
  std::function<fetch_decision(step_id)> wanted = {};
  /// There was no memory for a tensor of that step, and the tensor is dropped. Also called by
  /// review().
  std::function<void(step_id, status)> on_lost = {};
  /// A tensor of that step is about to be announced, so withdraw() is needed if the step fails.
  /// Called by send(); must not call the link.
  std::function<void(step_id)> on_announce = {};
};

/// One end of a connection. One thread at a time may read (receive, receive_space, commit,
/// abandon), one may write (gather, sent, fill), and any may call the other functions. After an
/// error, every receive() returns the same error. Then write the output that gather() still returns
/// (for instance a refusal), and close.
class link {
public:
  link(link_options options, link_callbacks callbacks);
  link(link&&) noexcept;
  link& operator=(link&&) noexcept;
  ~link();

  /// Queues a message. Its tensors must not change until it has left. Fails without effect if the
  /// peer would not accept the message, if it exceeds the limits (resource_exhausted), and after
  /// the connection has failed.
  status send(const message& outgoing);
  /// Ends the connection: drops queued output, and later sends fail. Called by the reading thread.
  void abandon(status reason);

  /// To be called when the demand for tensors of that step may have changed: pulls tensors that are
  /// due, and cancels those that are no longer wanted. Fails as receive() does.
  status review(step_id step);
  /// Withdraws the tensors of that step that are announced or queued, and notifies the peer.
  status withdraw(step_id step);

  /// Consumes received bytes, in any portions. Fails with data_loss for damaged bytes,
  /// invalid_argument for another protocol, resource_exhausted for a peer that exceeds the limits,
  /// or with the error of the peer's refusal.
  status receive(std::span<const std::byte> bytes);

  /// The place for the next bytes of the stream, within a body. Bytes that are written there, for
  /// instance by a socket, are reported by commit() instead of receive().
  std::span<std::byte> receive_space() const noexcept;
  status commit(size_t bytes);

  /// Limits the payload of one message, and all payloads in reception. Called in on_hello.
  void limit_input(uint64_t bytes);

  /// Reads payloads of at least `from_bytes` bytes from the peer's memory by `read`, whose errors
  /// end the connection. Called in on_hello.
  void enable_memory_reads(std::function<status(std::span<std::byte> to, uint64_t from)> read,
                           uint64_t from_bytes);
  /// Whether lent payloads wait to be read. read_lent() reads at most `budget` bytes, and returns
  /// the number. Both are called by the reading thread.
  bool has_lent_payloads() const noexcept;
  result<size_t> read_lent(size_t budget);

  /// Appends the next output, at most `window` bytes, and returns its size. Urgent messages come
  /// first, then messages, then payloads in turn, directly from the memory of tensors. The pieces
  /// stay valid until sent() reports the written bytes; unsent bytes are returned again.
  size_t gather(std::vector<std::span<const std::byte>>& pieces, size_t window);
  void sent(size_t bytes);
  /// Copies the next output, which counts as sent.
  size_t fill(std::vector<char>& out, size_t window);

  /// Whether fill() would return nothing now.
  bool idle() const noexcept;
  /// Whether all messages have left, including payloads that the peer has not pulled yet.
  bool drained() const noexcept;

  /// Bytes of queued messages, and of payloads that have not left.
  struct output_sizes {
    uint64_t messages = 0, payloads = 0;
  };
  output_sizes queued_output() const noexcept;

  /// Keeps the connection alive; to be called a few times per timeout / 3. Sends a ping if nothing
  /// was written for timeout / 3, even if the peer is heard. Fails with unavailable if nothing was
  /// heard for the timeout.
  status tick(std::chrono::steady_clock::time_point now);

  /// The peer's hello, or nullptr before it came.
  const hello* peer() const noexcept;

  /// Bytes of received payloads and held messages.
  uint64_t pending_bytes() const noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace troupe
