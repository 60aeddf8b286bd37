// What a link has to write, and in which order.
#pragma once
#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace troupe {

/// Bounds of what waits here, and of what the peer has to hold.
struct output_limits {
  size_t queued_bytes = 0;      ///< of messages that have not left
  uint64_t announced_bytes = 0; ///< of payloads that have not left
  size_t held_bytes = 0;        ///< of messages that wait at the peer for their payloads
};

/// Urgent messages leave first, then messages, then pulled payloads in turn, a chunk of each.
/// A message that must come last leaves when all before it has left, with its payloads; one that
/// the peer would have to hold leaves when the peer has room for it. Others pass both.
class link_output {
public:
  explicit link_output(output_limits limits) : limits_(limits) {}

  void set_held_limit(size_t bytes) noexcept { limits_.held_bytes = bytes; }

  void push_handshake(encoded_message what);
  /// Fails, without effect, where more would wait than may. Small messages have some room of their
  /// own: an error can still be told.
  /// Of a tensor_push, `step` says whose it is: it can be withdrawn.
  status push(encoded_message what, delivery order, std::optional<step_id> step = {});

  /// Lets more than the handshake leave.
  void open() noexcept { open_ = true; }
  /// Lets only the handshake's messages leave from now on, and forgets the rest.
  void close() noexcept;

  /// The peer wants an announced payload. Fails for one that was not announced or is on its way;
  /// one that is gone, as it was withdrawn meanwhile, is passed over.
  status start(uint64_t transfer);
  /// The same, to be read where it lies. Returns where that is; nothing for one that is gone.
  result<std::optional<uint64_t>> lend(uint64_t transfer);
  /// The peer needs no more what it was lent.
  status take_back(uint64_t transfer);
  /// The peer does not want a tensor_push, of which that is the first payload. Says whether there
  /// was something to drop: then the peer is to be told, before anything else is announced. Fails
  /// for one that was not announced, or is none of a step.
  result<bool> drop(uint64_t transfer);
  /// Drops what is announced of a step and what waits to be. Returns the first payloads of those of
  /// which the peer is to be told.
  std::vector<uint64_t> withdraw(step_id step);

  /// Appends what is to be written next: at most `window` bytes, a few pieces of memory, which stay
  /// until sent() has been told that they are written. What was gathered before and not sent comes
  /// again, first.
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
    std::vector<std::byte> bytes; // a message's
    tensor payload;               // keeps a chunk's memory
    std::span<const std::byte> body;
    size_t written = 0; // of header and body
  };
  struct waiting {
    encoded_message what;
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
  // A message that has left or begun to, and whose payloads have not.
  struct announced {
    size_t missing = 0; // payloads
    size_t cost = 0;
    uint64_t first = 0, count = 0; // transfers
    std::optional<step_id> step;
  };
  using announced_place = std::map<uint64_t, announced>::iterator;

  static frame frame_of(encoded_message what, uint64_t first_transfer);
  status check(const encoded_message& what) const;
  bool start_next();
  std::deque<waiting> link_output::*next_queue() const noexcept;
  frame announce(waiting what);
  announced_place forget(announced_place which);
  result<outgoing*> asked_for(uint64_t transfer);
  void finish(uint64_t transfer);
  frame next_chunk();

  output_limits limits_;
  bool open_ = false;
  std::deque<frame> handshake_, urgent_;
  std::deque<waiting> plain_, announcing_, last_;   // without payloads, with, and to come last
  std::deque<frame> current_;                       // has begun to leave
  std::unordered_map<uint64_t, outgoing> outgoing_; // announced, by transfer
  std::map<uint64_t, announced> at_peer_;           // by number of the message
  std::deque<uint64_t> active_;                     // pulled, whose turn is first
  std::unordered_map<uint64_t, tensor> returning_;  // withdrawn, but lent
  uint64_t next_transfer_ = 1, next_number_ = 1;
  size_t queued_bytes_ = 0, held_by_peer_ = 0;
  uint64_t announced_bytes_ = 0;
};

/// What a message takes of its receiver while it waits there for its payloads: both ends count so.
inline size_t cost_of_holding(size_t message_bytes, size_t payloads) noexcept {
  return message_bytes + 256 + 256 * payloads;
}

} // namespace troupe
