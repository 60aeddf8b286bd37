// Freed blocks of memory, by size, for those who ask next.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace troupe::gpu {

struct block {
  void* memory = nullptr;
  size_t size = 0;    ///< a class's
  uint64_t freed = 0; ///< when, by the owner's count
  /// What runs beside the line of launches and may not have ended: marks in the streams of copies
  /// to the host and to the device, and in that of exchanges; 0 for none.
  uint64_t copied_out = 0, copied_in = 0, exchanged = 0;

  bool is_copied() const noexcept { return copied_out != 0 || copied_in != 0 || exchanged != 0; }
};

/// Not guarded: its owner is.
class block_cache {
public:
  /// The size of the blocks that serve requests of so many bytes: at most an eighth more, from some
  /// size on.
  static size_t class_of(size_t bytes) noexcept;

  void put(block what) {
    bytes_ += what.size;
    blocks_[what.size].push_back(what);
  }
  /// The one freed last: it may lie in caches, and old ones grow older. One that a copy or an
  /// exchange may still use is taken only where there is no other; then the oldest.
  std::optional<block> take_newest(size_t size);
  /// The one freed first, if that was no later than `until`.
  std::optional<block> take_oldest(size_t size, uint64_t until);
  /// Any block, largest sizes first.
  std::optional<block> take_any();
  size_t bytes() const noexcept { return bytes_; }

private:
  std::map<size_t, std::deque<block>> blocks_;
  size_t bytes_ = 0;
};

} // namespace troupe::gpu
