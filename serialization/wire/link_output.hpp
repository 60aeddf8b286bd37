// The output of a link: queued messages and payloads, and their order.
#pragma once
#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace troupe {

/// Limits of the output that waits here, and of the messages that the peer has to hold.
struct output_limits {
  size_t queued_bytes = 0;      ///< of messages that have not left
  uint64_t announced_bytes = 0; ///< of payloads that have not left
  size_t held_bytes = 0;        ///< of messages that wait at the peer for payloads
};

/// Urgent messages leave first, then messages, then pulled payloads in turn, a chunk of each. An
/// ordered message leaves when all earlier messages have left, with their payloads. A message with
/// payloads leaves when the peer has space to hold it. Other messages may pass both.
class link_output {
public:
  explicit link_output(output_limits limits) : limits_(limits) {}

  void push_handshake(encoded_message encoded);
  /// Queues a message. Fails without effect if a limit would be exceeded. Small messages have a
  /// higher limit, so that errors can still be sent. `step` is the step of a tensor_push, which can
  /// be withdrawn.
  status push(encoded_message encoded, delivery order, std::optional<step_id> step = {});

  /// Allows messages other than those of the handshake to be sent.
  void open() noexcept { open_ = true; }
  /// Drops all messages but those of the handshake.
  void close() noexcept;

  /// Starts to send an announced payload that the peer pulls. Fails for a payload that was not
  /// announced or is pulled already; ignores a payload that was withdrawn.
  status start(uint64_t transfer);
  /// Lends the payload instead. Returns its address; nothing for a withdrawn payload.
  result<std::optional<uint64_t>> lend(uint64_t transfer);
  /// Ends the loan of a payload.
  status take_back(uint64_t transfer);
  /// Drops the tensor_push that begins with this payload, which the peer declined. Returns
  /// whether there was something to drop: then the peer must be notified before anything else is
  /// announced. Fails for a payload that was not announced, or that begins no tensor_push.
  result<bool> drop(uint64_t transfer);
  /// Drops the announced and queued messages of a step. Returns the first payloads of the announced
  /// ones, of which the peer must be notified.
  std::vector<uint64_t> withdraw(step_id step);

  /// Appends the next output: at most `window` bytes, in a few pieces, which stay valid until
  /// sent() reports that they are written. Unsent pieces are returned again, first.
  size_t gather(std::vector<std::span<const std::byte>>& pieces, size_t window);
  void sent(size_t bytes);

  bool idle() const noexcept;
  bool drained() const noexcept;
  size_t queued_bytes() const noexcept { return queued_bytes_; }
  uint64_t announced_bytes() const noexcept { return announced_bytes_; }
  size_t longest_message() const noexcept;

private:
  struct frame {
    std::array<std::byte, frame_header_bytes> header;
    std::vector<std::byte> bytes; // of a message
    tensor payload;               // keeps the memory of a chunk
    std::span<const std::byte> body;
    size_t written = 0; // of header and body
  };
  struct waiting {
    encoded_message encoded;
    uint64_t number = 0; // of the message
    std::optional<step_id> step;
  };
  struct outgoing {
    tensor payload;
    uint64_t message = 0;
    size_t sent = 0;
    bool pulled = false;
    bool lent = false;
  };
  // A message that has left, or begun to, and whose payloads have not.
  struct announced {
    size_t missing = 0; // payloads
    size_t cost = 0;
    uint64_t first = 0, count = 0; // transfers
    std::optional<step_id> step;
  };
  using announced_position = std::map<uint64_t, announced>::iterator;

  static frame frame_of(encoded_message encoded, uint64_t first_transfer);
  status check(const encoded_message& encoded) const;
  bool start_next();
  std::deque<waiting> link_output::*next_queue() const noexcept;
  frame announce(waiting message_to_send);
  announced_position forget(announced_position position);
  result<outgoing*> mark_pulled(uint64_t transfer);
  void finish(uint64_t transfer);
  frame next_chunk();

  output_limits limits_;
  bool open_ = false;
  std::deque<frame> handshake_, urgent_;
  std::deque<waiting> plain_, announcing_, last_;   // without payloads, with payloads, and ordered
  std::deque<frame> current_;                       // frames that have begun to leave
  std::unordered_map<uint64_t, outgoing> outgoing_; // announced, by transfer
  std::map<uint64_t, announced> at_peer_;           // by number of the message
  std::deque<uint64_t> active_;                     // pulled, next first
  std::unordered_map<uint64_t, tensor> returning_;  // withdrawn, but lent
  uint64_t next_transfer_ = 1, next_number_ = 1;
  size_t queued_bytes_ = 0, held_by_peer_ = 0;
  uint64_t announced_bytes_ = 0;
};

/// The bytes that count for a message that waits at its receiver for payloads, at both ends.
inline size_t cost_of_holding(size_t message_bytes, size_t payloads) noexcept {
  return message_bytes + 256 + 256 * payloads;
}

} // namespace troupe
