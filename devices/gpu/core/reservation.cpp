#include "troupe/devices/gpu/core/reservation.hpp"

#include <algorithm>

namespace troupe::gpu {

reservation::reservation(void* memory, size_t bytes)
    : memory_(static_cast<char*>(memory)), bytes_(bytes) {
  if (bytes > 0)
    keep({memory, bytes});
}

std::optional<block> reservation::take(size_t size, uint64_t until) {
  auto fits = by_size_.lower_bound({size, nullptr});
  while (fits != by_size_.end() && by_place_.at(fits->second).freed > until)
    ++fits;
  if (fits == by_size_.end())
    return {};
  auto found = remove(by_place_.find(fits->second));
  if (found.size > size) {
    auto rest = found;
    rest.memory = static_cast<char*>(found.memory) + size;
    rest.size = found.size - size;
    keep(rest);
    found.size = size;
  }
  return found;
}

void reservation::put(const block& what) {
  auto joined = what;
  auto join = [&](const block& other) {
    joined.memory = std::min(joined.memory, other.memory);
    joined.size += other.size;
    joined.freed = std::max(joined.freed, other.freed);
    joined.copied_out = std::max(joined.copied_out, other.copied_out);
    joined.copied_in = std::max(joined.copied_in, other.copied_in);
    joined.exchanged = std::max(joined.exchanged, other.exchanged);
  };
  auto* begin = static_cast<char*>(what.memory);
  auto next = by_place_.lower_bound(begin);
  if (next != by_place_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second.size == begin)
      join(remove(before));
  }
  if (next != by_place_.end() && begin + what.size == next->first)
    join(remove(next));
  keep(joined);
}

void reservation::keep(const block& what) {
  auto* at = static_cast<char*>(what.memory);
  free_ += what.size;
  by_place_[at] = what;
  by_size_.emplace(what.size, at);
}

block reservation::remove(place_map::iterator which) {
  auto found = which->second;
  by_size_.erase({found.size, which->first});
  by_place_.erase(which);
  free_ -= found.size;
  return found;
}

} // namespace troupe::gpu
