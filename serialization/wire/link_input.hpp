// The input of a link: messages that wait for their payloads.
#pragma once
#include "troupe/runtime/cluster/fetch_decision.hpp"
#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>

namespace troupe {

struct link_options;

/// Reads from an address of the process at the other end. An error ends the connection. Success
/// means that the lent memory was valid during the whole read.
using memory_reader = std::function<status(std::span<std::byte> to, uint64_t from)>;

/// Receives the messages of a link_input. An error ends the connection.
class link_receiver {
public:
  virtual status on_message(message received) = 0;
  virtual status send_pull(uint64_t transfer) = 0;
  virtual status send_cancel_pull(uint64_t transfer) = 0;
  virtual status send_borrow_request(uint64_t transfer) = 0;
  virtual status send_loan_return(uint64_t transfer) = 0;
  /// Called with the lock: must not call the link.
  virtual fetch_decision wanted(step_id step) = 0;
  /// There is no memory for a tensor of the step.
  virtual void on_lost(step_id step, status reason) = 0;

protected:
  ~link_receiver() = default;
};

/// Pulls announced payloads when they are due and as memory allows, and passes messages on as soon
/// as they are complete. Payloads of a step are due when the step has begun, and are dropped when
/// it has ended. One thread reads; review() and pending_bytes() are thread-safe.
class link_input final : frame_sink {
public:
  link_input(const link_options& options, link_receiver& receiver);

  status receive(std::span<const std::byte> bytes) { return reader_.feed(bytes, *this); }
  std::span<std::byte> receive_space() const noexcept { return reader_.receive_space(); }
  status commit(size_t bytes) { return reader_.commit(bytes, *this); }
  /// Before the peer's hello, only short messages and no payloads are allowed.
  void set_max_message(size_t bytes) noexcept { reader_.set_max_message(bytes); }
  void open() noexcept;
  /// Limits the payload of one message, and all payloads in reception, beside the options' limits.
  void limit(uint64_t bytes);
  /// Ends the reading, and releases waiting messages.
  void close();

  /// Checks again whether the tensors of that step are wanted.
  status review(step_id step);
  /// Handles the withdrawal of the message that begins with this payload.
  status on_withdrawal(uint64_t transfer);
  uint64_t pending_bytes() const;

  /// Makes later payloads of at least `from_bytes` bytes be read from the peer's memory by `read`.
  void enable_memory_reads(memory_reader read, uint64_t from_bytes);
  /// Handles the loan of a payload that was requested by borrow.
  status on_loan(uint64_t transfer, uint64_t address);
  bool has_lent_payloads() const;
  /// Reads at most `budget` bytes of lent payloads; returns the number.
  result<size_t> read_lent(size_t budget);

private:
  enum class held_state : uint8_t { early, due, unwanted };
  struct held {
    std::vector<std::byte> bytes;
    std::vector<uint64_t> sizes;
    std::vector<tensor> payloads;
    size_t missing = 0;
    uint64_t memory = 0; // of the payloads pulled so far
    std::optional<step_id> step;
    held_state state = held_state::due;
  };
  using held_position = std::map<uint64_t, held>::iterator;
  struct incoming {
    held_position owner;
    size_t index = 0;
    uint64_t received = 0;
    bool pulled = false;
    uint64_t turn = 0; // in to_pull_
    bool borrowed = false;
    uint64_t address = 0; // in the sender's memory, while lent
  };

  status on_message(std::span<const std::byte> body, uint64_t first_transfer) override;
  result<std::byte*> chunk_target(uint64_t transfer, size_t bytes) override;
  status on_chunk(uint64_t transfer, size_t bytes) override;

  template <class Act>
  status locked(Act act);
  status check(const envelope& announced, uint64_t first_transfer) const;
  status hold(std::span<const std::byte> body, envelope announced, uint64_t first_transfer);
  void make_due(held_position position);
  status pull_more();
  status drop(held_position position);
  held take(held_position position);
  status advance(uint64_t transfer, size_t bytes);
  status give_back(uint64_t transfer, incoming& loan);

  const link_options& options_;
  link_receiver& receiver_;
  frame_reader reader_;
  tensor reading_; // keeps the memory of the current chunk
  uint64_t next_transfer_ = 1;
  bool open_ = false;
  uint64_t limit_ = UINT64_MAX; // set before payloads are announced
  memory_reader read_memory_;   // reads the peer's memory; empty if that is not possible
  uint64_t min_memory_read_ = UINT64_MAX;

  mutable std::mutex mutex_;      // of the following members; locked before those of callbacks
  std::map<uint64_t, held> held_; // by first transfer
  std::unordered_map<uint64_t, incoming> incoming_; // announced and not complete, by transfer
  std::unordered_multimap<step_id, held_position> held_by_step_;
  std::map<uint64_t, uint64_t> to_pull_; // transfers that are due, by turn
  uint64_t next_turn_ = 1;
  std::deque<uint64_t> to_read_; // transfers that are lent
  uint64_t payload_bytes_ = 0;
  size_t held_bytes_ = 0;
  std::vector<std::pair<step_id, status>> lost_; // not reported yet
};

} // namespace troupe
