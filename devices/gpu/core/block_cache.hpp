// A cache of freed blocks of memory, by size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace troupe::gpu {

struct block {
  void* memory = nullptr;
  size_t size = 0;    ///< of a size class
  uint64_t freed = 0; ///< when it was freed, as the owner's counter
  /// Transfers beside the compute stream that may still use the block: marks in the streams of
  /// copies to the host, of copies to the device, and of exchanges; 0 for none.
  uint64_t copied_out = 0, copied_in = 0, exchanged = 0;

  bool is_copied() const noexcept { return copied_out != 0 || copied_in != 0 || exchanged != 0; }
};

/// Not thread-safe: its owner locks.
class block_cache {
public:
  /// The size class of a request: at most an eighth more for requests of more than 2 KiB.
  static size_t class_of(size_t bytes) noexcept;

  void put(block freed_block) {
    bytes_ += freed_block.size;
    blocks_[freed_block.size].push_back(freed_block);
  }
  /// Takes the block that was freed last, which may be in caches; older blocks can serve copies. A
  /// block that a copy or an exchange may still use is taken only if there is no other; then the
  /// oldest.
  std::optional<block> take_newest(size_t size);
  /// Takes the block that was freed first, if that was no later than `until`.
  std::optional<block> take_oldest(size_t size, uint64_t until);
  /// Takes any block, largest sizes first.
  std::optional<block> take_any();
  size_t bytes() const noexcept { return bytes_; }

private:
  std::map<size_t, std::deque<block>> blocks_;
  size_t bytes_ = 0;
};

} // namespace troupe::gpu
