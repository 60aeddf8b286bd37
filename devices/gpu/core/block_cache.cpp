#include "troupe/devices/gpu/core/block_cache.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace troupe::gpu {
namespace {

constexpr size_t granule = 256, smallest_step = 2048;

} // namespace

// Multiples of 256 bytes up to 2 KiB; then eight steps from each power of two to the next.
size_t block_cache::class_of(size_t bytes) noexcept {
  if (bytes <= smallest_step)
    return bytes == 0 ? granule : (bytes + granule - 1) / granule * granule;
  auto step = std::bit_floor(bytes - 1) / 8;
  return (bytes + step - 1) / step * step;
}

std::optional<block> block_cache::take_newest(size_t size) {
  auto cached = blocks_.find(size);
  if (cached == blocks_.end() || cached->second.empty())
    return {};
  auto& freed_blocks = cached->second;
  auto uncopied = std::find_if(freed_blocks.rbegin(), freed_blocks.rend(),
                               [](const block& candidate) { return !candidate.is_copied(); });
  auto taken = uncopied == freed_blocks.rend() ? freed_blocks.front() : *uncopied;
  freed_blocks.erase(uncopied == freed_blocks.rend() ? freed_blocks.begin()
                                                     : std::prev(uncopied.base()));
  bytes_ -= taken.size;
  return taken;
}

std::optional<block> block_cache::take_oldest(size_t size, uint64_t until) {
  auto cached = blocks_.find(size);
  if (cached == blocks_.end() || cached->second.empty() || cached->second.front().freed > until)
    return {};
  auto taken = cached->second.front();
  cached->second.pop_front();
  bytes_ -= taken.size;
  return taken;
}

std::optional<block> block_cache::take_any() {
  for (auto cached = blocks_.rbegin(); cached != blocks_.rend(); ++cached)
    if (!cached->second.empty()) {
      auto taken = cached->second.back();
      cached->second.pop_back();
      bytes_ -= taken.size;
      return taken;
    }
  return {};
}

} // namespace troupe::gpu
