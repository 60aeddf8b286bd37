// A large allocation that is given out in pieces.
#pragma once
#include "troupe/devices/gpu/core/block_cache.hpp"

#include <set>

namespace troupe::gpu {

/// Best fit with immediate coalescing: gives out the smallest piece that fits, and joins adjacent
/// free pieces. A joined piece is usable when all of its parts are. Not thread-safe: its owner
/// locks.
class reservation {
public:
  reservation() = default;
  reservation(void* memory, size_t bytes);

  /// Returns nullopt if no piece is large enough. `until` excludes pieces that were freed later.
  std::optional<block> take(size_t size, uint64_t until = UINT64_MAX);
  void put(const block& freed);

  bool owns(const void* memory) const noexcept {
    auto address = static_cast<const char*>(memory);
    return address >= memory_ && address < memory_ + bytes_;
  }
  void* memory() const noexcept { return memory_; }
  size_t bytes() const noexcept { return bytes_; }
  size_t free_bytes() const noexcept { return free_; }
  size_t pieces() const noexcept { return by_address_.size(); } ///< that are free

private:
  using address_map = std::map<char*, block>;
  void keep(const block& freed);
  block remove(address_map::iterator position);

  char* memory_ = nullptr;
  size_t bytes_ = 0, free_ = 0;
  address_map by_address_;
  std::set<std::pair<size_t, char*>> by_size_;
};

} // namespace troupe::gpu
