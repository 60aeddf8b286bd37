#include "troupe/devices/cpu/cpu_allocator.hpp"

#include <bit>
#include <new>
#include <thread>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

// Can be overridden to run the cache itself under a sanitizer.
#ifndef TROUPE_CACHE_BLOCKS
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TROUPE_CACHE_BLOCKS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define TROUPE_CACHE_BLOCKS 0
#endif
#endif
#endif
#ifndef TROUPE_CACHE_BLOCKS
#define TROUPE_CACHE_BLOCKS 1
#endif

namespace troupe {
namespace {

constexpr size_t granule = tensor_alignment;
// Small blocks have a limit for each class, large blocks a limit for all classes together.
constexpr size_t small_block = size_t{64} << 10;
constexpr size_t small_bound = size_t{1} << 20;
constexpr size_t huge_block = size_t{2} << 20;

struct size_class {
  int index;
  size_t size;
};

// 64, 128 .. 512, then eight steps from each power of two to the next.
size_class class_of(size_t bytes) {
  if (bytes <= 8 * granule) {
    auto granules = bytes == 0 ? 1 : (bytes + granule - 1) / granule;
    return {static_cast<int>(granules) - 1, granules * granule};
  }
  auto exponent = static_cast<int>(std::bit_width(bytes - 1)) - 1; // 2^exponent is less than bytes
  auto step = (bytes - 1) >> (exponent - 3);                       // 8 .. 15
  return {(exponent - 9) * 8 + static_cast<int>(step), (step + 1) << (exponent - 3)};
}

// Requests huge pages: one page fault for each 2 MiB instead of 4 KiB, and fewer TLB misses, which
// cost most in virtual machines. Systems without huge pages ignore the request.
void prefer_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] size_t size) noexcept {
#ifdef MADV_HUGEPAGE
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto begin = reinterpret_cast<uintptr_t>(memory) / page * page;
  auto end = (reinterpret_cast<uintptr_t>(memory) + size + page - 1) / page * page;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

void* allocate_on_heap(size_t size) noexcept {
  auto* memory = ::operator new (size, std::align_val_t{tensor_alignment}, std::nothrow);
  if (memory && size >= huge_block)
    prefer_huge_pages(memory, size);
  return memory;
}

void free_on_heap(void* memory) noexcept {
  ::operator delete (memory, std::align_val_t{tensor_alignment});
}

} // namespace

cpu_allocator::owner cpu_allocator::make(size_t memory_limit, size_t cache_limit) {
  return owner{new cpu_allocator{memory_limit, cache_limit}};
}

void* cpu_allocator::allocate(size_t bytes) noexcept {
  if (bytes > SIZE_MAX / 4)
    return nullptr;
  auto [index, size] = class_of(bytes);
  void* memory = nullptr;
  if (TROUPE_CACHE_BLOCKS && index < class_count) {
    auto& bin = bins_[static_cast<size_t>(index)];
    if (!bin.is_locked.test_and_set(std::memory_order_acquire)) {
      ++bin.allocations;
      if (auto* head = bin.first) {
        bin.first = head->next;
        bin.bytes -= size;
        memory = head;
      }
      bin.is_locked.clear(std::memory_order_release);
    } else {
      uncached_allocations_.fetch_add(1, std::memory_order_relaxed);
    }
    if (memory && size > small_block)
      large_cached_.fetch_sub(size, std::memory_order_relaxed);
  } else {
    uncached_allocations_.fetch_add(1, std::memory_order_relaxed);
  }
  if (!claim(size)) {
    if (memory)
      free_on_heap(memory);
    return nullptr;
  }
  if (!memory)
    memory = allocate_on_heap(size);
  if (!memory) {
    release_cached();
    memory = allocate_on_heap(size);
  }
  if (!memory)
    unclaim(size);
  return memory;
}

void cpu_allocator::deallocate(void* memory, size_t bytes) noexcept {
  if (!memory)
    return;
  auto [index, size] = class_of(bytes);
  bool is_cached = false;
  if (TROUPE_CACHE_BLOCKS && index < class_count) {
    auto is_large = size > small_block;
    if (is_large &&
        large_cached_.fetch_add(size, std::memory_order_relaxed) + size > cache_limit_) {
      release_cached(); // else sizes that are no longer allocated would fill the cache for ever
      is_large = false;
      large_cached_.fetch_sub(size, std::memory_order_relaxed);
    } else if (auto& bin = bins_[static_cast<size_t>(index)];
               !bin.is_locked.test_and_set(std::memory_order_acquire)) {
      is_cached = is_large || bin.bytes + size <= small_bound;
      if (is_cached) {
        bin.first = new (memory) block{bin.first};
        bin.bytes += size;
      }
      bin.is_locked.clear(std::memory_order_release);
    }
    if (is_large && !is_cached)
      large_cached_.fetch_sub(size, std::memory_order_relaxed);
  }
  if (!is_cached)
    free_on_heap(memory);
  unclaim(size);
}

memory_statistics cpu_allocator::statistics() const noexcept {
  memory_statistics sum{.in_use = bytes_in_use(), .peak = peak_.load() & ~size_t{1}};
  sum.allocations = uncached_allocations_.load();
  for (auto& bin : bins_) {
    while (bin.is_locked.test_and_set(std::memory_order_acquire))
      std::this_thread::yield();
    sum.cached += bin.bytes;
    sum.allocations += bin.allocations;
    bin.is_locked.clear(std::memory_order_release);
  }
  return sum;
}

void cpu_allocator::release_cached() noexcept {
  static const auto first_large = static_cast<size_t>(class_of(small_block).index) + 1;
  for (size_t i = 0; i < bins_.size(); ++i) {
    auto& bin = bins_[i];
    if (bin.is_locked.test_and_set(std::memory_order_acquire))
      continue; // another thread uses this bin now, so its blocks are not idle
    auto* first = std::exchange(bin.first, nullptr);
    auto bytes = std::exchange(bin.bytes, 0);
    bin.is_locked.clear(std::memory_order_release);
    if (i >= first_large)
      large_cached_.fetch_sub(bytes, std::memory_order_relaxed);
    while (first)
      free_on_heap(std::exchange(first, first->next));
  }
}

bool cpu_allocator::claim(size_t size) noexcept {
  auto used = in_use_.fetch_add(size, std::memory_order_relaxed) + size;
  if (limit_ != 0) {
    if (used + large_cached_.load(std::memory_order_relaxed) > limit_)
      release_cached();
    if (used > limit_) {
      unclaim(size);
      return false;
    }
  }
  auto peak = peak_.load(std::memory_order_relaxed);
  while (used > peak && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed))
    ;
  return true;
}

void cpu_allocator::unclaim(size_t size) noexcept {
  if (in_use_.fetch_sub(size, std::memory_order_acq_rel) == size)
    delete this;
}

} // namespace troupe
