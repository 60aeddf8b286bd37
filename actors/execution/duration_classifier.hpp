// Classifies work that runs repeatedly as brief or long: long work gets a thread of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace troupe {

/// Judges by several runs, because the system may preempt a thread within a brief run. Brief work
/// becomes long after two long runs with fewer than 16 brief runs between them. Long work becomes
/// brief after 16 brief runs if two runs were long, and after 48 brief runs at most. Only the first
/// run is judged alone: if it is long, the work is long until the next brief run. Any thread may
/// call; runs that end at the same time may count as one.
class duration_classifier {
public:
  /// A run is long if it takes more time than this.
  static constexpr std::chrono::microseconds not_brief{200};

  void took(std::chrono::nanoseconds time) noexcept {
    auto old_score = score_.load(std::memory_order_relaxed);
    auto new_score =
        time > not_brief ? std::min(old_score + long_run, max_score) : std::max(old_score - 1, 0);
    if (new_score != old_score)
      score_.store(new_score, std::memory_order_relaxed);
  }
  bool often_long() const noexcept { return score_.load(std::memory_order_relaxed) > long_run; }

private:
  static constexpr int long_run = 16, max_score = 4 * long_run;
  std::atomic<int> score_ = 1;
};

} // namespace troupe
