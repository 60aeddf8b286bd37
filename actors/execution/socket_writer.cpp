#include "troupe/actors/execution/socket_writer.hpp"

#include "troupe/runtime/simulation.hpp"

#include <caf/abstract_actor.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <thread>
#include <utility>

namespace troupe {
namespace {

// The size of one write to a socket: enough to keep it busy, and little enough that urgent messages
// do not queue behind payload.
constexpr size_t write_window = 512 * 1024;
// The limit for a thread that has other work.
constexpr size_t quick_budget = 64 * 1024;
// The limit for the loop's thread before it serves other sockets, and for the last messages.
constexpr size_t long_budget = 4 * 1024 * 1024;

thread_local write_batch* current_batch = nullptr;

} // namespace

write_batch::write_batch() noexcept : outermost_(!current_batch) {
  if (outermost_)
    current_batch = this;
}

write_batch::~write_batch() {
  write();
  if (outermost_)
    current_batch = nullptr;
}

void write_batch::write() {
  if (!outermost_ || pending_.empty())
    return;
  current_batch = nullptr;
  for (auto& entry : std::exchange(pending_, {}))
    entry.second->write_some();
  current_batch = this;
}

template <class Write>
size_t socket_writer::write_exclusively(Write write) {
  if (callers_.fetch_add(1, std::memory_order_acq_rel) > 0)
    return 0; // the writing thread checks callers_ again
  size_t total = 0;
  for (auto callers = callers_.load(std::memory_order_acquire);;) {
    try {
      total += write();
    } catch (const std::exception&) { // out of memory: the reader sees end of file, and reports it
      closed_.store(true, std::memory_order_relaxed);
      stream_.shut_down();
    }
    if (callers_.compare_exchange_strong(callers, 0, std::memory_order_acq_rel))
      return total;
  }
}

void socket_writer::write_some() {
  if (current_batch) {
    auto& pending = current_batch->pending_;
    for (const auto& entry : pending)
      if (entry.second == this)
        return;
    pending.emplace_back(caf::strong_actor_ptr{owner_.ctrl()}, this);
    return;
  }
  auto left = quick_budget;
  write_exclusively([&] {
    auto is_finishing = finishing_.load(std::memory_order_acquire);
    if (wants_writable_ && !is_finishing) // the loop's thread writes the rest
      return size_t{0};
    if (TROUPE_BUGGIFY_ORDER("a thread leaves what it has to write to the loop"))
      left = 0;
    // If `left` is 0, this only registers with the loop.
    auto written = write(is_finishing ? long_budget : left);
    left -= std::min(left, written);
    return written;
  });
}

size_t socket_writer::flush() {
  return write_exclusively([&] { return write(long_budget); });
}

void socket_writer::finish() {
  finishing_.store(true, std::memory_order_release);
  flush();
}

size_t socket_writer::write(size_t budget) {
  auto is_last = finishing_.load(std::memory_order_acquire); // all messages are in the link by now
  size_t total = 0;
  bool has_more = true;
  while (total < budget && !closed_.load(std::memory_order_relaxed)) {
    pieces_.clear();
    auto most = TROUPE_BUGGIFY_ORDER("little is written at once") ? 1000 : write_window;
    if (link_.gather(pieces_, std::min(most, budget)) == 0 && !stream_.has_unsent_output()) {
      has_more = false;
      break;
    }
    std::array<iovec, 64> places;
    for (size_t i = 0; i < pieces_.size(); ++i)
      places[i] = {const_cast<std::byte*>(pieces_[i].data()), pieces_[i].size()};
    auto written = stream_.write(std::span{places.data(), pieces_.size()});
    if (written < 0) {
      if (errno == EINTR)
        continue;
      if (errno != EAGAIN)
        has_more = false; // the reader gets the error, too, and ends the connection
      break;
    }
    link_.sent(static_cast<size_t>(written));
    if (sent_)
      sent_->fetch_add(static_cast<uint64_t>(written), std::memory_order_relaxed);
    total += static_cast<size_t>(written);
  }
  if (is_last && !std::exchange(finished_, true))
    stream_.shut_down_writing();
  if (has_more != wants_writable_ && !closed_.load(std::memory_order_relaxed)) {
    wants_writable_ = has_more;
    loop_.want_writable(stream_.id(), has_more);
  }
  return total;
}

void socket_writer::close() {
  // The writing thread may still have to end the stream.
  if (finishing_.load(std::memory_order_acquire))
    while (callers_.load(std::memory_order_acquire) > 0)
      std::this_thread::yield();
  closed_.store(true, std::memory_order_relaxed);
  while (callers_.fetch_add(1, std::memory_order_acq_rel) > 0)
    std::this_thread::yield();
}

} // namespace troupe
