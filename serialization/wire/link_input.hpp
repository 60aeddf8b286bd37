// What a link has read: messages that wait for their payloads.
#pragma once
#include "troupe/runtime/cluster/demand.hpp"
#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>

namespace troupe {

struct link_options;

/// Reads out of the memory of the process at the other end, from an address. An error ends the
/// connection; without one, what was lent there was there all the time.
using near_reader = std::function<status(std::span<std::byte> to, uint64_t from)>;

/// Gets what comes out of a link_input. An error ends the connection.
class link_receiver {
public:
  virtual status on_message(message what) = 0;
  virtual status send_pull(uint64_t transfer) = 0;
  virtual status send_unwanted(uint64_t transfer) = 0;
  virtual status send_borrow(uint64_t transfer) = 0;
  virtual status send_returned(uint64_t transfer) = 0;
  /// Called with a lock held: it must not call the link.
  virtual demand wanted(step_id step) = 0;
  /// There is no memory for a step's tensor.
  virtual void on_lost(step_id step, status why) = 0;

protected:
  ~link_receiver() = default;
};

/// Pulls announced payloads when they are due and as memory allows, and hands out messages as soon
/// as they are complete. What belongs to a step is due when that has begun, and dropped when it has
/// ended. One thread reads; review() and pending_bytes() are for any.
class link_input final : frame_sink {
public:
  link_input(const link_options& options, link_receiver& to);

  status receive(std::span<const std::byte> bytes) { return reader_.feed(bytes, *this); }
  std::span<std::byte> gap() const noexcept { return reader_.gap(); }
  status filled(size_t bytes) { return reader_.filled(bytes, *this); }
  /// Before the peer has introduced itself: only short messages, and no payloads.
  void set_max_message(size_t bytes) noexcept { reader_.set_max_message(bytes); }
  void open() noexcept;
  /// Of payloads, by one message and at once; beside the limits of the options.
  void limit(uint64_t bytes);
  /// Nothing more is read: lets go of what waits.
  void close();

  /// Asks again whether that step's tensors are wanted.
  status review(step_id step);
  /// The sender has withdrawn the message with that first payload.
  status withdrawn(uint64_t transfer);
  uint64_t pending_bytes() const;

  /// From now on payloads of so many bytes are read where they lie, with that function.
  void read_near(near_reader read, uint64_t from_bytes);
  /// A payload that was asked for so lies there.
  status lent(uint64_t transfer, uint64_t address);
  bool reading() const;
  /// Reads some of what was lent; returns how much.
  result<size_t> read_lent(size_t budget);

private:
  enum class fate : uint8_t { early, due, unwanted };
  struct held {
    std::vector<std::byte> bytes;
    std::vector<uint64_t> sizes;
    std::vector<tensor> payloads;
    size_t missing = 0;
    uint64_t memory = 0; // of the payloads pulled so far
    std::optional<step_id> step;
    fate is = fate::due;
  };
  using place = std::map<uint64_t, held>::iterator;
  struct incoming {
    place of;
    size_t index = 0;
    uint64_t received = 0;
    bool pulled = false;
    uint64_t turn = 0; // in to_pull_
    bool borrowed = false;
    uint64_t address = 0; // in the memory of its sender, while it is lent
  };

  status on_message(std::span<const std::byte> body, uint64_t first_transfer) override;
  result<std::byte*> chunk_target(uint64_t transfer, size_t bytes) override;
  status on_chunk(uint64_t transfer, size_t bytes) override;

  template <class Act>
  status locked(Act act);
  status check(const envelope& what, uint64_t first_transfer) const;
  status hold(std::span<const std::byte> body, envelope what, uint64_t first_transfer);
  void make_due(place which);
  status pull_more();
  status drop(place which);
  held take(place which);
  status advance(uint64_t transfer, size_t bytes);
  status give_back(uint64_t transfer, incoming& what);

  const link_options& options_;
  link_receiver& to_;
  frame_reader reader_;
  tensor reading_; // keeps the memory of the chunk that is being read
  uint64_t next_transfer_ = 1;
  bool open_ = false;
  uint64_t limit_ = UINT64_MAX; // set before payloads are announced
  near_reader near_;            // reads in the peer's memory, where that may be
  uint64_t near_from_ = UINT64_MAX;

  mutable std::mutex mutex_;      // of what follows; before those of whoever is called
  std::map<uint64_t, held> held_; // by first transfer
  std::unordered_map<uint64_t, incoming> incoming_; // announced and not complete, by transfer
  std::unordered_multimap<step_id, place> of_steps_;
  std::map<uint64_t, uint64_t> to_pull_; // transfers that are due, by turn
  uint64_t next_turn_ = 1;
  std::deque<uint64_t> to_read_; // transfers that are lent
  uint64_t payload_bytes_ = 0;
  size_t held_bytes_ = 0;
  std::vector<std::pair<step_id, status>> lost_; // whose owner is to be told
};

} // namespace troupe
