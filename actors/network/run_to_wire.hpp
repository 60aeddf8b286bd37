// A run of a step as other processes are asked for it.
#pragma once
#include "troupe/actors/base/messages.hpp"

#include <algorithm>

namespace troupe {

/// Takes the feeds. A deadline that has passed is 0 ms.
inline run_step to_wire(run_request& what, step_clock::time_point now) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(what.deadline - now);
  return {.handle = what.handle,
          .step = what.step,
          .deadline_ms = static_cast<uint64_t>(std::max<int64_t>(left.count(), 0)),
          .feeds = std::move(what.feeds),
          .times = what.watch.times,
          .check_numerics = what.watch.check_numerics,
          .incarnation = what.incarnation,
          .fills = what.fills,
          .retried = what.retried};
}

} // namespace troupe
