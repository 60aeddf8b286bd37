// Notifies all work of a step that it must stop.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace troupe {

/// raised() becomes true when a step fails or is cancelled; is_due() also when its deadline passes.
/// Once is_due() has returned true, raised() is true for the calling thread and all threads
/// synchronized with it. Any thread may call any function except arm().
class stop_signal {
public:
  using clock = std::chrono::steady_clock;

  stop_signal() noexcept = default;
  explicit stop_signal(clock::time_point deadline) noexcept : deadline_(deadline) {}

  /// Resets the signal for another step. No work of the previous step may be running.
  void arm(clock::time_point deadline = clock::time_point::max()) noexcept {
    deadline_ = deadline;
    state_.store(not_raised, std::memory_order_relaxed);
  }

  clock::time_point deadline() const noexcept { return deadline_; }

  void raise() noexcept { set_raised(raised_by_call); }

  /// Costs one load: for checks between instructions.
  bool raised() const noexcept { return state_.load(std::memory_order_relaxed) != not_raised; }
  /// Reads the clock, which costs about 30 ns: for checks between chunks of a long loop.
  bool is_due() noexcept {
    if (raised())
      return true;
    if (deadline_ == clock::time_point::max() || clock::now() < deadline_)
      return false;
    set_raised(raised_by_clock);
    return true;
  }
  /// Returns whether the deadline passed before the signal was raised.
  bool is_late() const noexcept {
    return state_.load(std::memory_order_relaxed) == raised_by_clock;
  }

private:
  enum state : uint8_t { not_raised, raised_by_call, raised_by_clock };

  void set_raised(state next) noexcept {
    auto expected = not_raised;
    state_.compare_exchange_strong(expected, next, std::memory_order_relaxed);
  }

  std::atomic<state> state_{not_raised};
  clock::time_point deadline_ = clock::time_point::max();
};

} // namespace troupe
