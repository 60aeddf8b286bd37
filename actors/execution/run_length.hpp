// Whether something that runs again and again takes so long that it should have a thread of its
// own.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace troupe {

/// Judges by several runs, because a thread may be put off in the midst of a brief one: behind a
/// brief one, two long runs within 16 count, and 16 brief ones take a long one back. A first run is
/// believed. Any thread may call; runs that end at the same time may be counted as one.
class run_length {
public:
  static constexpr std::chrono::microseconds not_brief{200};

  void took(std::chrono::nanoseconds time) noexcept {
    auto known = score_.load(std::memory_order_relaxed);
    auto now = time > not_brief ? std::min(known + once, most) : std::max(known - 1, 0);
    if (now != known)
      score_.store(now, std::memory_order_relaxed);
  }
  bool often_long() const noexcept { return score_.load(std::memory_order_relaxed) > once; }

private:
  static constexpr int once = 16, most = 4 * once;
  std::atomic<int> score_ = 1;
};

} // namespace troupe
