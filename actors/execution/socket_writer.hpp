// Writes the messages of a link to a socket, on the thread that sends them.
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

/// Any thread may call, except close(), which is called on the loop's thread. One thread writes at
/// a time. Meanwhile, other threads leave their messages to the writing thread, which gathers them
/// into one write.
class socket_writer {
public:
  /// `sent` counts the bytes that were written, if not null.
  socket_writer(byte_stream& stream, io_loop& loop, link& source, caf::abstract_actor& owner,
                std::atomic<uint64_t>* sent = nullptr)
      : stream_(stream), loop_(loop), link_(source), owner_(owner), sent_(sent) {}

  /// Writes what the socket accepts at once, up to a limit; the loop's thread writes the rest. If
  /// this thread has a write_batch, writes at the end of the batch.
  void write_some();
  /// Writes what the socket accepts, also after it did not accept all. Returns the number of bytes
  /// written.
  size_t flush();
  /// As flush(), then ends the stream in this direction. If another thread is writing, that thread
  /// does it.
  void finish();
  /// Waits until no thread writes; later calls write nothing.
  void close();

private:
  friend class write_batch;
  template <class Write>
  size_t write_exclusively(Write write);
  size_t write(size_t budget);

  byte_stream& stream_;
  io_loop& loop_;
  link& link_;
  caf::abstract_actor& owner_;
  std::atomic<uint64_t>* const sent_;
  std::atomic<unsigned> callers_{0}; // the writing thread, and calls that it has not seen yet
  std::atomic<bool> closed_{false}, finishing_{false};
  // Of the writing thread:
  bool finished_ = false;
  bool wants_writable_ = false;
  std::vector<std::span<const std::byte>> pieces_;
};

/// While it lives, writes of this thread are deferred; then all messages of one socket are written
/// together. Use it around brief work. A nested batch has no effect.
class write_batch {
public:
  write_batch() noexcept;
  write_batch(const write_batch&) = delete;
  write_batch& operator=(const write_batch&) = delete;
  ~write_batch();
  void write();

private:
  friend class socket_writer;
  bool outermost_;
  // With the owners of the writers.
  std::vector<std::pair<caf::strong_actor_ptr, socket_writer*>> pending_;
};

} // namespace troupe
