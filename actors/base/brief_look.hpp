// To be woken costs a thread some 30 us, more than many an answer takes. So threads between which
// steps travel look again for a moment before they sleep. docs/decisions/038 says what was
// measured.
#pragma once
#include <algorithm>
#include <chrono>

#include <sched.h>

namespace troupe {

/// Remembers whether it pays. One thread at a time.
class brief_look {
public:
  /// Calls `arrived` until it is true, for at most 50 us; returns whether it was. In between, it
  /// offers the core to others. When one takes it for long, it looks rarely from then on: a thread
  /// that sleeps gets its core back at once when it is woken, one that has given it away does not.
  /// The same where nothing came several times in a row.
  template <class Arrived>
  bool operator()(Arrived arrived) {
    using clock = std::chrono::steady_clock;
    if (luck_ == 0 && ++skipped_ < pause_)
      return false;
    skipped_ = 0;
    for (auto begin = clock::now(), now = begin; now - begin < longest;) {
      ::sched_yield();
      if (arrived()) {
        luck_ = std::min(luck_ + 1, most_luck);
        pause_ = shortest_pause;
        return true;
      }
      auto before = now;
      now = clock::now();
      if (now - before > core_is_wanted) {
        luck_ = 0;
        pause_ = std::min(2 * pause_, longest_pause);
        return false;
      }
    }
    luck_ = std::max(luck_ - 1, 0);
    return false;
  }

private:
  static constexpr std::chrono::microseconds longest{50}, core_is_wanted{100};
  static constexpr int most_luck = 8;
  static constexpr unsigned shortest_pause = 16, longest_pause = 2048;
  int luck_ = most_luck;
  unsigned skipped_ = 0, pause_ = shortest_pause;
};

} // namespace troupe
