// What a link has read: messages that wait for their payloads.
#pragma once
#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <deque>
#include <list>
#include <unordered_map>

namespace troupe {

struct link_options;

/// Gets what comes out of a link_input. An error ends the connection.
class link_receiver {
public:
  virtual status on_message(message what) = 0;
  virtual status send_pull(uint64_t transfer) = 0;

protected:
  ~link_receiver() = default;
};

/// Pulls announced payloads as memory allows and hands out messages as soon as they are complete.
class link_input final : frame_sink {
public:
  link_input(const link_options& options, link_receiver& to);

  status receive(std::span<const std::byte> bytes) { return reader_.feed(bytes, *this); }
  std::span<std::byte> gap() const noexcept { return reader_.gap(); }
  status filled(size_t bytes) { return reader_.filled(bytes, *this); }
  /// Before the peer has introduced itself: only short messages, and no payloads.
  void set_max_message(size_t bytes) noexcept { reader_.set_max_message(bytes); }
  void open() noexcept;
  uint64_t pending_bytes() const noexcept { return payload_bytes_ + held_bytes_; }

private:
  struct held {
    std::vector<std::byte> bytes;
    std::vector<uint64_t> sizes;
    std::vector<tensor> payloads;
    size_t missing = 0;
    uint64_t memory = 0; // of the payloads pulled so far
  };
  using place = std::list<held>::iterator;
  struct incoming {
    place of;
    size_t index = 0;
    uint64_t received = 0;
    bool pulled = false;
  };

  status on_message(std::span<const std::byte> body, uint64_t first_transfer) override;
  result<std::byte*> chunk_target(uint64_t transfer, size_t bytes) override;
  status on_chunk(uint64_t transfer, size_t bytes) override;

  status check(const envelope& what, uint64_t first_transfer) const;
  status hold(std::span<const std::byte> body, envelope what, uint64_t first_transfer);
  status pull_more();
  status complete(place which);

  const link_options& options_;
  link_receiver& to_;
  frame_reader reader_;
  std::list<held> held_;
  std::unordered_map<uint64_t, incoming> incoming_; // announced and not complete, by transfer
  std::deque<uint64_t> to_pull_;
  uint64_t next_transfer_ = 1;
  bool open_ = false;
  uint64_t payload_bytes_ = 0;
  size_t held_bytes_ = 0;
};

} // namespace troupe
