#include "troupe/actors/execution/outlet.hpp"

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

// Of one call to the system: enough to keep a socket busy, few enough that urgent messages do not
// queue behind payload.
constexpr size_t write_window = 512 * 1024;
// What a thread that has other work writes.
constexpr size_t quick_budget = 64 * 1024;
// What the loop's thread writes before it looks at other sockets, and the last words.
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
  if (!outermost_ || noted_.empty())
    return;
  current_batch = nullptr;
  for (auto& one : std::exchange(noted_, {}))
    one.second->write_some();
  current_batch = this;
}

template <class Write>
size_t outlet::one_at_a_time(Write write) {
  if (callers_.fetch_add(1, std::memory_order_acq_rel) > 0)
    return 0; // the thread that writes looks again
  size_t total = 0;
  for (auto seen = callers_.load(std::memory_order_acquire);;) {
    try {
      total += write();
    } catch (const std::exception&) { // memory is short: the reader finds the end, and tells
      closed_.store(true, std::memory_order_relaxed);
      stream_.end();
    }
    if (callers_.compare_exchange_strong(seen, 0, std::memory_order_acq_rel))
      return total;
  }
}

void outlet::write_some() {
  if (current_batch) {
    auto& noted = current_batch->noted_;
    for (const auto& one : noted)
      if (one.second == this)
        return;
    noted.emplace_back(caf::strong_actor_ptr{owner_.ctrl()}, this);
    return;
  }
  auto left = quick_budget;
  one_at_a_time([&] {
    auto finishes = finishing_.load(std::memory_order_acquire);
    if (wants_writable_ && !finishes) // the loop's thread goes on
      return size_t{0};
    if (TROUPE_BUGGIFY_ORDER("a thread leaves what it has to write to the loop"))
      left = 0;
    auto written = write(finishes ? long_budget : left); // of none left it tells the loop
    left -= std::min(left, written);
    return written;
  });
}

size_t outlet::flush() {
  return one_at_a_time([&] { return write(long_budget); });
}

void outlet::finish() {
  finishing_.store(true, std::memory_order_release);
  flush();
}

size_t outlet::write(size_t budget) {
  auto last = finishing_.load(std::memory_order_acquire); // what is to be said is in the link
  size_t total = 0;
  bool more = true;
  while (total < budget && !closed_.load(std::memory_order_relaxed)) {
    pieces_.clear();
    auto most = TROUPE_BUGGIFY_ORDER("little is written at once") ? 1000 : write_window;
    if (link_.gather(pieces_, std::min(most, budget)) == 0 && !stream_.holds_output()) {
      more = false;
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
        more = false; // the reader is told as well, and ends the connection
      break;
    }
    link_.sent(static_cast<size_t>(written));
    if (sent_)
      sent_->fetch_add(static_cast<uint64_t>(written), std::memory_order_relaxed);
    total += static_cast<size_t>(written);
  }
  if (last && !std::exchange(finished_, true))
    stream_.end_writing();
  if (more != wants_writable_ && !closed_.load(std::memory_order_relaxed)) {
    wants_writable_ = more;
    loop_.want_writable(stream_.id(), more);
  }
  return total;
}

void outlet::close() {
  if (finishing_.load(std::memory_order_acquire)) // a thread that writes may have it still to do
    while (callers_.load(std::memory_order_acquire) > 0)
      std::this_thread::yield();
  closed_.store(true, std::memory_order_relaxed);
  while (callers_.fetch_add(1, std::memory_order_acq_rel) > 0)
    std::this_thread::yield();
}

} // namespace troupe
