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
  auto it = blocks_.find(size);
  if (it == blocks_.end() || it->second.empty())
    return {};
  auto& all = it->second;
  auto at =
      std::find_if(all.rbegin(), all.rend(), [](const block& one) { return !one.is_copied(); });
  auto found = at == all.rend() ? all.front() : *at;
  all.erase(at == all.rend() ? all.begin() : std::prev(at.base()));
  bytes_ -= found.size;
  return found;
}

std::optional<block> block_cache::take_oldest(size_t size, uint64_t until) {
  auto it = blocks_.find(size);
  if (it == blocks_.end() || it->second.empty() || it->second.front().freed > until)
    return {};
  auto found = it->second.front();
  it->second.pop_front();
  bytes_ -= found.size;
  return found;
}

std::optional<block> block_cache::take_any() {
  for (auto it = blocks_.rbegin(); it != blocks_.rend(); ++it)
    if (!it->second.empty()) {
      auto found = it->second.back();
      it->second.pop_back();
      bytes_ -= found.size;
      return found;
    }
  return {};
}

} // namespace troupe::gpu
