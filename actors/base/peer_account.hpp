// Counts the connections, programs and steps of one client at a task, over all of its connections.
#pragma once
#include "troupe/serialization/config/access.hpp"

#include <atomic>
#include <cstddef>
#include <string>

namespace troupe {

/// The use of a task by a client on its access list. Any thread may read and count.
struct peer_account {
  peer_account(std::string client, const access_rights& granted)
      : name(std::move(client)), rights(granted) {}

  const std::string name; ///< of the client on the access list
  const access_rights rights;
  std::atomic<size_t> connections{0}, programs{0}, steps{0};
  std::atomic<size_t> registering{0}; ///< graphs that wait to be compiled
};

/// Increments `count` and returns true, unless it has reached the limit. 0: no limit.
inline bool acquire_slot(std::atomic<size_t>& count, size_t limit) noexcept {
  if (count.fetch_add(1, std::memory_order_relaxed) < limit || limit == 0)
    return true;
  count.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

} // namespace troupe
