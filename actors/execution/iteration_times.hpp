// Sums the times of the nodes of frames' functions, and their messages, over all iterations of a
// step.
#pragma once
#include "troupe/runtime/insight/step_statistics.hpp"

#include <map>
#include <mutex>

namespace troupe {

class task_instance;
class task_program;

/// Iterations overlap, and there may be millions: each node has one sum. Any thread may call.
class iteration_times {
public:
  /// Adds the times and messages of a profiled iteration that has ended.
  void add(const task_instance& iteration);
  /// Appends a span for each node, with the subject that the step's program has for it, and adds
  /// the messages.
  void collect(const task_program& program, task_statistics& to) const;
  void reset() noexcept;

private:
  struct sum {
    int64_t begin_ns = 0, took_ns = 0;
    uint64_t bytes = 0, runs = 0;
  };
  // Work that the processor ran or launched, and work that ran on a device later, have two sums.
  using sum_key = std::pair<uint32_t, uint32_t>; // subject, track

  mutable std::mutex mutex_;
  std::map<const task_program*, std::map<sum_key, sum>> sums_;
  message_counts messages_, expected_messages_;
};

} // namespace troupe
