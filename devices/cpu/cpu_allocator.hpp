// The CPU device's memory: the heap, behind a cache of freed blocks.
#pragma once
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/device/memory_usage_source.hpp"

#include <array>
#include <memory>

namespace troupe {

/// Rounds sizes up to classes, eight per power of two, and keeps freed blocks of each class for the
/// next tensors: a step frees what the next step needs, and fresh large blocks cost page faults;
/// they are made of huge pages where the system has some. Never waits: a thread that finds a class
/// taken by another goes to the heap. Under sanitizers nothing is kept, so that they see every
/// block.
class cpu_allocator final : public allocator, public memory_usage_source {
public:
  const memory_usage_source* usage() const noexcept override { return this; }
  struct abandon {
    void operator()(cpu_allocator* one) const noexcept { one->give_up(1); }
  };
  /// Tensors may outlive the owner: the allocator goes with the last of them.
  using owner = std::unique_ptr<cpu_allocator, abandon>;

  /// No limit for `memory_limit` = 0. At most `cache_limit` bytes of large blocks are kept.
  static owner make(size_t memory_limit, size_t cache_limit);

  void* allocate(size_t bytes) noexcept override;
  void deallocate(void* memory, size_t bytes) noexcept override;
  size_t bytes_in_use() const noexcept override {
    return in_use_.load(std::memory_order_relaxed) & ~size_t{1};
  }
  memory_statistics statistics() const noexcept;
  void release_cached() noexcept;
  size_t limit() const noexcept { return limit_; }

private:
  static constexpr int class_count = 8 + 8 * 31; // up to 1 TiB

  struct block {
    block* next;
  };
  struct alignas(64) bin {
    std::atomic_flag taken;
    block* first = nullptr;
    size_t bytes = 0; // of all blocks in the list
    uint64_t allocations = 0;
  };

  cpu_allocator(size_t memory_limit, size_t cache_limit)
      : limit_(memory_limit), cache_limit_(cache_limit) {}
  ~cpu_allocator() override { release_cached(); }

  bool claim(size_t size) noexcept;
  void give_up(size_t size) noexcept;

  const size_t limit_, cache_limit_;
  // Bytes in use, and one for the owner: all sizes are multiples of 64, so that zero means that
  // nobody needs the allocator any more.
  std::atomic<size_t> in_use_{1};
  std::atomic<size_t> peak_{0};
  std::atomic<size_t> large_cached_{0};
  std::atomic<uint64_t> uncached_allocations_{0};
  mutable std::array<bin, class_count> bins_;
};

} // namespace troupe
