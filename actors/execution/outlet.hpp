// Writes what a link has to send to a socket, on whatever thread there is something to send.
#pragma once
#include "troupe/actors/execution/byte_stream.hpp"
#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/serialization/wire/link.hpp"

#include <caf/actor_control_block.hpp>
#include <caf/fwd.hpp>

#include <atomic>
#include <utility>
#include <vector>

namespace troupe {

/// Any thread may call, but for close(), which is the loop's. One thread writes at a time; another
/// that comes meanwhile leaves its message to it, and so do messages gather to one write.
class outlet {
public:
  /// `sent` counts bytes, where there is one.
  outlet(byte_stream& to, io_loop& loop, link& from, caf::abstract_actor& owner,
         std::atomic<uint64_t>* sent = nullptr)
      : stream_(to), loop_(loop), link_(from), owner_(owner), sent_(sent) {}

  /// Writes what the socket takes at once, but no large amount: the loop's thread does the rest.
  /// Where this thread has a write_batch, at its end.
  void write_some();
  /// Writes what the socket takes at once, where it may not have taken all before. Returns how many
  /// bytes have left.
  size_t flush();
  /// The same, and no more follows: the peer finds the end behind it. Where another thread is
  /// writing, that thread does it.
  void finish();
  /// Waits until no thread writes; none will any more.
  void close();

private:
  friend class write_batch;
  template <class Write>
  size_t one_at_a_time(Write write);
  size_t write(size_t budget);

  byte_stream& stream_;
  io_loop& loop_;
  link& link_;
  caf::abstract_actor& owner_;
  std::atomic<uint64_t>* const sent_;
  std::atomic<unsigned> callers_{0};
  std::atomic<bool> closed_{false}, finishing_{false};
  // The writing thread's own:
  bool finished_ = false;
  bool wants_writable_ = false;
  std::vector<std::span<const std::byte>> pieces_;
};

/// While it lives, what this thread has to write is only noted down; then all for one socket leaves
/// together. For work that takes no time to speak of. One within another does nothing.
class write_batch {
public:
  write_batch() noexcept;
  write_batch(const write_batch&) = delete;
  write_batch& operator=(const write_batch&) = delete;
  ~write_batch();
  void write();

private:
  friend class outlet;
  bool outermost_;
  std::vector<std::pair<caf::strong_actor_ptr, outlet*>> noted_; // and what keeps them
};

} // namespace troupe
