// What a link has to write, and in which order.
#pragma once
#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <deque>
#include <optional>
#include <unordered_map>

namespace troupe {

/// Urgent messages leave first, then messages in order, then pulled payloads in turn, a chunk of
/// each.
class link_output {
public:
  void push_handshake(encoded_message what) { push(handshake_, std::move(what)); }
  void push_urgent(encoded_message what) { push(urgent_, std::move(what)); }
  void push(encoded_message what) { push(messages_, std::move(what)); }

  /// Lets more than the handshake leave.
  void open() noexcept { open_ = true; }
  /// Lets only the handshake's messages leave from now on, and forgets the rest.
  void close() noexcept;

  /// The peer wants an announced payload. Fails for one that is not announced or pulled already.
  status start(uint64_t transfer);

  size_t fill(std::vector<char>& out, size_t window);

  bool idle() const noexcept;
  bool drained() const noexcept { return idle() && messages_.empty() && outgoing_.empty(); }
  size_t longest_message() const noexcept;

private:
  struct frame {
    std::array<std::byte, frame_header_bytes> header;
    std::vector<std::byte> bytes; // a message's
    tensor payload;               // keeps a chunk's memory
    std::span<const std::byte> body;
    size_t written = 0; // of header and body
  };
  struct outgoing {
    tensor payload;
    size_t sent = 0;
    bool pulled = false;
  };

  void push(std::deque<frame>& queue, encoded_message what);
  std::optional<frame> next();
  frame next_chunk();

  bool open_ = false;
  std::deque<frame> handshake_, urgent_, messages_;
  std::optional<frame> current_;
  std::unordered_map<uint64_t, outgoing> outgoing_; // announced, by transfer
  std::deque<uint64_t> active_;                     // pulled, whose turn is first
  uint64_t next_transfer_ = 1;
};

} // namespace troupe
