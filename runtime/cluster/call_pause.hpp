// The pause before the next call to an address that has not answered.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>

namespace troupe {

/// Doubles with each call, so that calls to an abandoned address are cheap. Randomized, so that the
/// peers that lost a process at the same time do not call it at the same time. Knows no clock.
class call_pause {
public:
  using milliseconds = std::chrono::milliseconds;

  static constexpr milliseconds shortest{100}, first{200};

  /// A call has failed after `call_time`: returns the pause before the next call. The next call
  /// begins at most `longest` after the failed call began, but at least `shortest` after its end.
  /// `random_bits` is a random number of 64 bits.
  milliseconds next(milliseconds call_time, milliseconds longest, uint64_t random_bits) {
    last_ = std::min(std::max(first, last_ * 2), longest);
    auto minimum = last_ / 2;
    auto randomized =
        minimum + milliseconds{static_cast<int64_t>(
                      random_bits % static_cast<uint64_t>((last_ - minimum).count() + 1))};
    return std::max(randomized - call_time, shortest);
  }
  /// Starts again with short pauses, since the address may be alive.
  void reset() { last_ = milliseconds{0}; }

private:
  milliseconds last_{0};
};

} // namespace troupe
