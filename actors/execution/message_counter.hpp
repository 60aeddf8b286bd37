// Counts the messages between the actors of a profiled step.
#pragma once
#include "troupe/runtime/insight/message_counts.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace troupe {

/// Each message to a region is counted as `to_region`. One that starts a program is also counted as
/// `start`, and the value of a wait also as `answer`.
enum class message_kind : uint8_t {
  start,
  to_region,
  answer,
  request,
  send,
  fetch,
  region_end,
  step_end,
};

/// Any thread may count. The sums are exact once the step has ended.
class message_counter {
public:
  /// Begins at zero, or counts nothing in the next steps. Between steps only.
  void restart(bool counts_messages) noexcept {
    counts_messages_ = counts_messages;
    for (auto& number : numbers_)
      number.store(0, std::memory_order_relaxed);
  }
  /// One test of a flag where steps are not profiled.
  void count(message_kind kind, uint64_t number = 1) noexcept {
    if (counts_messages_) [[unlikely]]
      numbers_[static_cast<size_t>(kind)].fetch_add(number, std::memory_order_relaxed);
  }
  message_counts sums() const noexcept {
    using enum message_kind;
    message_counts counts{.starts = number_of(start), .answers = number_of(answer)};
    // In a step that fails, the value of a wait may be on its way to the region.
    counts.tokens = std::max(number_of(to_region), counts.to_regions()) - counts.to_regions();
    counts.requests = number_of(request);
    counts.sends = number_of(send);
    counts.fetches = number_of(fetch);
    counts.region_ends = number_of(region_end);
    counts.step_ends = number_of(step_end);
    return counts;
  }

private:
  uint64_t number_of(message_kind kind) const noexcept {
    return numbers_[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
  }

  bool counts_messages_ = false;
  std::array<std::atomic<uint64_t>, 8> numbers_{};
};

} // namespace troupe
