// Numbers of messages between the actors of a step.
#pragma once
#include <cstdint>

namespace troupe {

/// The messages of a step on one task, by sender and receiver. Requests that begin, stop or end the
/// step on the task, and messages among waitable resources, are not counted.
struct message_counts {
  uint64_t starts = 0;      ///< conductor -> first region of each program
  uint64_t tokens = 0;      ///< region -> another region of its program
  uint64_t requests = 0;    ///< region -> waitable resource, such as a queue
  uint64_t answers = 0;     ///< to a region: the value that it waits for
  uint64_t sends = 0;       ///< region -> exchange: a tensor for another task
  uint64_t fetches = 0;     ///< region -> conductor: a result
  uint64_t region_ends = 0; ///< region -> conductor: it has run
  uint64_t step_ends = 0;   ///< conductor -> waitable resource that takes elements back

  /// The messages to regions.
  uint64_t to_regions() const noexcept { return starts + tokens + answers; }
  uint64_t total() const noexcept {
    return to_regions() + requests + sends + fetches + region_ends + step_ends;
  }
  message_counts& operator+=(const message_counts& added) noexcept {
    starts += added.starts;
    tokens += added.tokens;
    requests += added.requests;
    answers += added.answers;
    sends += added.sends;
    fetches += added.fetches;
    region_ends += added.region_ends;
    step_ends += added.step_ends;
    return *this;
  }
  bool operator==(const message_counts&) const = default;
};

} // namespace troupe
