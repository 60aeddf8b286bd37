// Converts a run_request into a message to another process.
#pragma once
#include "troupe/actors/base/messages.hpp"

#include <algorithm>

namespace troupe {

/// Moves the feeds out of the request. A deadline that has passed becomes 0 ms.
inline run_step to_run_step(run_request& request, step_clock::time_point now) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(request.deadline - now);
  return {.handle = request.handle,
          .step = request.step,
          .deadline_ms = static_cast<uint64_t>(std::max<int64_t>(left.count(), 0)),
          .feeds = std::move(request.feeds),
          .wants_statistics = request.watch.times,
          .check_numerics = request.watch.check_numerics,
          .incarnation = request.incarnation,
          .initializes_task = request.initializes,
          .retried = request.retried};
}

} // namespace troupe
