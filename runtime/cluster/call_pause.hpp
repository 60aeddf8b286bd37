// How long to wait until an address that has not answered is called again.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>

namespace troupe {

/// Doubles from call to call, so that an address where nobody is any more costs little; and is
/// drawn, so that those who lost one process together do not call it together. Knows no clock.
class call_pause {
public:
  using milliseconds = std::chrono::milliseconds;

  static constexpr milliseconds shortest{100}, first{200};

  /// A call has failed that took `spent`: how long to wait until the next one, which begins
  /// `longest` after this one began at the latest, or `shortest` after its end.
  milliseconds next(milliseconds spent, milliseconds longest, uint64_t chance) {
    last_ = std::min(std::max(first, last_ * 2), longest);
    auto least = last_ / 2;
    auto drawn = least + milliseconds{static_cast<int64_t>(
                             chance % static_cast<uint64_t>((last_ - least).count() + 1))};
    return std::max(drawn - spent, shortest);
  }
  /// Somebody may be there: it begins again.
  void reset() { last_ = milliseconds{0}; }

private:
  milliseconds last_{0};
};

} // namespace troupe
