// Whether training waits for its input, and where that is slow.
#pragma once
#include "troupe/runtime/export.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// How a queue of an input_pipeline has been used since it was made.
struct queue_use {
  std::string queue;
  bool last = true;     ///< training takes from it, and no other stage
  double seconds = 0;   ///< since then
  double mean_size = 0; ///< elements, over that time
  int64_t enqueues = 0, dequeues = 0;
  double enqueue_seconds = 0, dequeue_seconds = 0; ///< that they have waited, all together
  double enqueue_waiting = 0, dequeue_waiting = 0; ///< that at least one of them waited
};

/// In the order of the stages.
struct input_statistics {
  std::vector<queue_use> queues = {};
};

/// What happened between two moments.
TROUPE_API input_statistics operator-(const input_statistics& now, const input_statistics& since);

/// Says in one sentence whether steps wait for their input, and which stage is slow:
/// "the input is the bottleneck: 38 % of each step waits for 'batch'; what fills 'records' is the
/// slowest part".
TROUPE_API std::string describe_input(const input_statistics& during);

} // namespace troupe
