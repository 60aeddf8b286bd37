// Numbered events in a stream of a GPU.
#pragma once
#include "troupe/devices/gpu/core/driver.hpp"

#include <deque>
#include <vector>

namespace troupe::gpu {

/// Not thread-safe: its owner locks.
class mark_list {
public:
  /// Records a mark at the end of the stream; returns its event, valid until the next call.
  result<event> set(driver& owner, stream in);
  uint64_t last() const noexcept { return next_ - 1; } ///< 0 before the first
  /// The number of the last mark that has passed: all launches before it have run.
  uint64_t last_passed(driver& owner);
  /// The event of a mark, valid until the next call; null if it has passed, and for mark 0.
  event pending_event(driver& owner, uint64_t number);
  void destroy(driver& owner) noexcept;

private:
  struct mark {
    uint64_t number;
    event mark_event;
  };
  std::deque<mark> ahead_;
  std::vector<event> idle_;
  uint64_t next_ = 1, passed_ = 0;
};

} // namespace troupe::gpu
