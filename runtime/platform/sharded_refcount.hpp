// Counts who uses a thing, without a line of memory that all of them write to.
#pragma once
#include "troupe/runtime/platform/thread_number.hpp"

#include <array>
#include <atomic>

namespace troupe {

/// Many threads use something by the million, until one closes it: the last to leave then destroys
/// it. Each core counts for itself, and only what happens after close() is counted together.
class sharded_refcount {
public:
  /// Says which count to leave; false when it was closed before.
  class ticket {
  public:
    explicit operator bool() const noexcept { return in_ != nullptr; }

  private:
    friend class sharded_refcount;
    std::atomic<int64_t>* in_ = nullptr;
  };

  /// Whoever gets a ticket leaves once.
  ticket enter() noexcept {
    auto& count = counts_[core_number() % shards].value;
    ticket made;
    if (count.fetch_add(1, std::memory_order_acquire) >= closed)
      count.fetch_sub(1, std::memory_order_relaxed);
    else
      made.in_ = &count;
    return made;
  }

  /// Returns true to exactly one: to whoever leaves last after close(), or to close() itself.
  [[nodiscard]] bool leave(ticket what) noexcept {
    return what.in_->fetch_sub(1, std::memory_order_acq_rel) >= closed && subtract(1);
  }

  /// Lets nobody in any more. Call it once.
  [[nodiscard]] bool close() noexcept {
    int64_t inside = 0;
    for (auto& one : counts_)
      inside += one.value.fetch_add(closed, std::memory_order_acq_rel);
    return subtract(closed - inside);
  }

private:
  static constexpr uint32_t shards = 16;
  static constexpr int64_t closed = int64_t{1} << 40; // more than there are threads

  bool subtract(int64_t many) noexcept {
    return left_.fetch_sub(many, std::memory_order_acq_rel) == many;
  }

  struct alignas(64) padded {
    std::atomic<int64_t> value{0};
  };
  std::array<padded, shards> counts_;
  std::atomic<int64_t> left_{closed}; // who leaves while close() still counts finds it above zero
};

} // namespace troupe
