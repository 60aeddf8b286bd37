// Memory that was taken at once, given out in pieces.
#pragma once
#include "troupe/devices/gpu/core/block_cache.hpp"

#include <set>

namespace troupe::gpu {

/// Gives out the smallest piece that fits, and joins what lies beside each other again (best fit
/// with immediate coalescing). A joined piece may be used when all of its parts may. Not guarded:
/// its owner is.
class reservation {
public:
  reservation() = default;
  reservation(void* memory, size_t bytes);

  /// Nothing where no piece is large enough. With `until`, one that was freed no later.
  std::optional<block> take(size_t size, uint64_t until = UINT64_MAX);
  void put(const block& what);

  bool owns(const void* memory) const noexcept {
    auto at = static_cast<const char*>(memory);
    return at >= memory_ && at < memory_ + bytes_;
  }
  void* memory() const noexcept { return memory_; }
  size_t bytes() const noexcept { return bytes_; }
  size_t free_bytes() const noexcept { return free_; }
  size_t pieces() const noexcept { return by_place_.size(); } ///< that are free

private:
  using place_map = std::map<char*, block>;
  void keep(const block& what);
  block remove(place_map::iterator which);

  char* memory_ = nullptr;
  size_t bytes_ = 0, free_ = 0;
  place_map by_place_;
  std::set<std::pair<size_t, char*>> by_size_;
};

} // namespace troupe::gpu
