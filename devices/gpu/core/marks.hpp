// Places in a GPU's line of launches, numbered in order.
#pragma once
#include "troupe/devices/gpu/core/driver.hpp"

#include <deque>
#include <vector>

namespace troupe::gpu {

/// Not guarded: its owner is.
class mark_list {
public:
  /// Marks the place up to which the stream was given work; returns its event, valid until the next
  /// call.
  result<event> set(driver& on, stream in);
  uint64_t last() const noexcept { return next_ - 1; } ///< 0 before the first
  /// All places up to that number lie behind: what was launched before them has run.
  uint64_t passed(driver& on);
  /// The event of a place, valid until the next call; null where it lies behind, and for place 0.
  event ahead(driver& on, uint64_t number);
  void destroy(driver& on) noexcept;

private:
  struct mark {
    uint64_t number;
    event at;
  };
  std::deque<mark> ahead_;
  std::vector<event> idle_;
  uint64_t next_ = 1, passed_ = 0;
};

} // namespace troupe::gpu
