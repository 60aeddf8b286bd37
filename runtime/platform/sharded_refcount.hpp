// A reference count that does not make all threads write to one cache line.
#pragma once
#include "troupe/runtime/platform/thread_number.hpp"

#include <array>
#include <atomic>

namespace troupe {

/// Many threads use an object millions of times until one thread closes it; the last user to leave
/// then destroys it. Each core has its own count. The counts are added up only at close().
class sharded_refcount {
public:
  /// Refers to the count to decrement; false if the object was closed before enter().
  class ticket {
  public:
    explicit operator bool() const noexcept { return count_ != nullptr; }

  private:
    friend class sharded_refcount;
    std::atomic<int64_t>* count_ = nullptr;
  };

  /// A caller that gets a valid ticket must call leave() with it exactly once.
  ticket enter() noexcept {
    auto& count = counts_[core_number() % shards].value;
    ticket entered;
    if (count.fetch_add(1, std::memory_order_acquire) >= closed)
      count.fetch_sub(1, std::memory_order_relaxed);
    else
      entered.count_ = &count;
    return entered;
  }

  /// Returns true to exactly one caller: to the last one to leave after close(), or to close().
  [[nodiscard]] bool leave(ticket entered) noexcept {
    return entered.count_->fetch_sub(1, std::memory_order_acq_rel) >= closed && subtract(1);
  }

  /// Makes each later enter() fail. Call it once.
  [[nodiscard]] bool close() noexcept {
    int64_t inside = 0;
    for (auto& count : counts_)
      inside += count.value.fetch_add(closed, std::memory_order_acq_rel);
    return subtract(closed - inside);
  }

private:
  static constexpr uint32_t shards = 16;
  static constexpr int64_t closed = int64_t{1} << 40; // more than the number of threads

  bool subtract(int64_t departures) noexcept {
    return left_.fetch_sub(departures, std::memory_order_acq_rel) == departures;
  }

  struct alignas(64) padded {
    std::atomic<int64_t> value{0};
  };
  std::array<padded, shards> counts_;
  std::atomic<int64_t> left_{closed}; // stays positive in leave() while close() still adds up
};

} // namespace troupe
