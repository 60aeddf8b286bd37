// What the nodes of frames' functions took, all turns of a step together.
#pragma once
#include "troupe/runtime/insight/step_statistics.hpp"

#include <map>
#include <mutex>

namespace troupe {

class task_instance;
class task_program;

/// Turns overlap, and there may be millions: each node has one sum. From any thread.
class turn_times {
public:
  /// A turn has ended that was watched.
  void add(const task_instance& turn);
  /// Appends a span for each node, of the subjects that the program of the step has for it.
  void collect(const task_program& of, task_statistics& to) const;
  void reset() noexcept;

private:
  struct sum {
    int64_t begin_ns = 0, took_ns = 0;
    uint64_t bytes = 0, runs = 0;
  };
  // What the processor ran or launched is one sum, what ran on a device later another.
  using place = std::pair<uint32_t, uint32_t>; // subject, track

  mutable std::mutex mutex_;
  std::map<const task_program*, std::map<place, sum>> sums_;
};

} // namespace troupe
