// Statistics of input queues, which tell whether training waits for its input and which stage is
// slow.
#pragma once
#include "troupe/runtime/export.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// The usage of a queue of an input_pipeline since its creation.
struct queue_usage {
  std::string queue;
  bool is_last_stage = true; ///< training dequeues from it, and no other stage
  double seconds = 0;        ///< since its creation
  double mean_size = 0;      ///< elements, averaged over time
  int64_t enqueues = 0, dequeues = 0;
  double enqueue_seconds = 0, dequeue_seconds = 0; ///< waiting time, summed over all operations
  double enqueue_waiting = 0, dequeue_waiting = 0; ///< time in which at least one of them waited
};

/// In the order of the stages.
struct input_statistics {
  std::vector<queue_usage> queues = {};
};

/// Returns the usage between two moments.
TROUPE_API input_statistics operator-(const input_statistics& now, const input_statistics& since);

/// Describes in one sentence whether steps wait for their input, and which stage is slow: "the
/// input is the bottleneck: 38 % of each step waits for 'batch'; the stage that fills
/// 'records' is the slowest".
TROUPE_API std::string describe_input(const input_statistics& during);

} // namespace troupe
