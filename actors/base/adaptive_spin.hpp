// Adaptive spinning before a thread sleeps. Waking a thread takes about 30 us, and many messages
// are handled in less, so threads that pass steps to each other poll for a moment first.
// docs/decisions/038 has the measurements.
#pragma once
#include <algorithm>
#include <chrono>

#include <sched.h>

namespace troupe {

/// Adapts how often it spins to how often spinning succeeds. Not thread-safe.
class adaptive_spin {
public:
  /// Calls `arrived` until it returns true, for at most 50 us; returns whether it did. Before each
  /// call it yields the core to other threads. Returns false at once in the calls that it skips.
  ///
  /// It skips calls after another thread has taken the core for over 100 us: a sleeping thread gets
  /// its core back at once when it is woken, a thread that has yielded does not. It also skips
  /// calls after several calls without success.
  template <class Arrived>
  bool operator()(Arrived arrived) {
    using clock = std::chrono::steady_clock;
    if (success_score_ == 0 && ++skipped_calls_ < pause_calls_)
      return false;
    skipped_calls_ = 0;
    for (auto begin = clock::now(), now = begin; now - begin < spin_time;) {
      ::sched_yield();
      if (arrived()) {
        success_score_ = std::min(success_score_ + 1, max_score);
        pause_calls_ = min_pause;
        return true;
      }
      auto before = now;
      now = clock::now();
      if (now - before > contention) {
        success_score_ = 0;
        pause_calls_ = std::min(2 * pause_calls_, max_pause);
        return false;
      }
    }
    success_score_ = std::max(success_score_ - 1, 0);
    return false;
  }

private:
  friend class stepwise_spin;
  static constexpr std::chrono::microseconds spin_time{50}, contention{100};
  static constexpr int max_score = 8;
  static constexpr unsigned min_pause = 16, max_pause = 2048;
  int success_score_ = max_score;
  unsigned skipped_calls_ = 0, pause_calls_ = min_pause;
};

/// Spins by the rules of adaptive_spin, for a thread whose loop belongs to other code: that loop
/// polls again, and does not sleep, as long as continues() returns true. Not thread-safe.
class stepwise_spin {
public:
  using clock = std::chrono::steady_clock;

  /// Call it after the work for each event. The thread begins to spin, or has spun with success.
  void begin(clock::time_point now) {
    if (is_spinning_) {
      success_score_ = std::min(success_score_ + 1, adaptive_spin::max_score);
      pause_calls_ = adaptive_spin::min_pause;
    }
    is_spinning_ = is_first_poll_ = true;
    begin_ = now;
  }

  /// Call it before each poll, and yield the core if it returns true. Otherwise the thread may
  /// sleep.
  bool continues(clock::time_point now) {
    if (!is_spinning_)
      return false;
    if (is_first_poll_) {
      is_spinning_ = success_score_ > 0 || ++skipped_calls_ >= pause_calls_;
      if (is_spinning_)
        skipped_calls_ = 0;
    } else if (now - last_poll_ > adaptive_spin::contention) {
      success_score_ = 0;
      pause_calls_ = std::min(2 * pause_calls_, adaptive_spin::max_pause);
      is_spinning_ = false;
    } else if (now - begin_ >= adaptive_spin::spin_time) {
      success_score_ = std::max(success_score_ - 1, 0);
      is_spinning_ = false;
    }
    is_first_poll_ = false;
    last_poll_ = now;
    return is_spinning_;
  }

private:
  bool is_spinning_ = false, is_first_poll_ = false;
  clock::time_point begin_, last_poll_;
  int success_score_ = adaptive_spin::max_score;
  unsigned skipped_calls_ = 0, pause_calls_ = adaptive_spin::min_pause;
};

} // namespace troupe
