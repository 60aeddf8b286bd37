// The allocator of the CPU device: the heap, behind a cache of freed blocks.
#pragma once
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/device/memory_usage_source.hpp"

#include <array>
#include <memory>

namespace troupe {

/// Rounds sizes up to classes, eight for each power of two, and caches freed blocks of each class.
/// A step frees blocks of the sizes that the next step allocates, and new large blocks cost page
/// faults. Large blocks use huge pages where the system has them. Never blocks: a thread that finds
/// a class locked by another thread uses the heap. Under sanitizers nothing is cached, so that the
/// sanitizer sees every block.
class cpu_allocator final : public allocator, public memory_usage_source {
public:
  const memory_usage_source* usage() const noexcept override { return this; }
  struct abandon {
    void operator()(cpu_allocator* abandoned) const noexcept { abandoned->unclaim(1); }
  };
  /// Tensors may outlive the owner: the allocator is destroyed with the last of them.
  using owner = std::unique_ptr<cpu_allocator, abandon>;

  /// `memory_limit` = 0 means no limit. At most `cache_limit` bytes of large blocks are cached.
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
    std::atomic_flag is_locked;
    block* first = nullptr;
    size_t bytes = 0; // of all blocks in the list
    uint64_t allocations = 0;
  };

  cpu_allocator(size_t memory_limit, size_t cache_limit)
      : limit_(memory_limit), cache_limit_(cache_limit) {}
  ~cpu_allocator() override { release_cached(); }

  bool claim(size_t size) noexcept;
  void unclaim(size_t size) noexcept; // destroys the allocator with the last claim

  const size_t limit_, cache_limit_;
  // Bytes in use, plus 1 for the owner. All sizes are multiples of 64, so zero means that neither
  // the owner nor a tensor is left.
  std::atomic<size_t> in_use_{1};
  std::atomic<size_t> peak_{0};
  std::atomic<size_t> large_cached_{0};
  std::atomic<uint64_t> uncached_allocations_{0};
  mutable std::array<bin, class_count> bins_;
};

} // namespace troupe
