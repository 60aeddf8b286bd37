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
  while (fits != by_size_.end() && by_address_.at(fits->second).freed > until)
    ++fits;
  if (fits == by_size_.end())
    return {};
  auto taken = remove(by_address_.find(fits->second));
  if (taken.size > size) {
    auto remainder = taken;
    remainder.memory = static_cast<char*>(taken.memory) + size;
    remainder.size = taken.size - size;
    keep(remainder);
    taken.size = size;
  }
  return taken;
}

void reservation::put(const block& freed) {
  auto joined = freed;
  auto join_with = [&](const block& other) {
    joined.memory = std::min(joined.memory, other.memory);
    joined.size += other.size;
    joined.freed = std::max(joined.freed, other.freed);
    joined.copied_out = std::max(joined.copied_out, other.copied_out);
    joined.copied_in = std::max(joined.copied_in, other.copied_in);
    joined.exchanged = std::max(joined.exchanged, other.exchanged);
  };
  auto* begin = static_cast<char*>(freed.memory);
  auto next = by_address_.lower_bound(begin);
  if (next != by_address_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second.size == begin)
      join_with(remove(before));
  }
  if (next != by_address_.end() && begin + freed.size == next->first)
    join_with(remove(next));
  keep(joined);
}

void reservation::keep(const block& freed) {
  auto* address = static_cast<char*>(freed.memory);
  free_ += freed.size;
  by_address_[address] = freed;
  by_size_.emplace(freed.size, address);
}

block reservation::remove(address_map::iterator position) {
  auto removed = position->second;
  by_size_.erase({removed.size, position->first});
  by_address_.erase(position);
  free_ -= removed.size;
  return removed;
}

} // namespace troupe::gpu
