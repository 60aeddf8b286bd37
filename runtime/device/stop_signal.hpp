// Tells everything that works for a step when to leave off.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace troupe {

/// Raised when a step has failed or was cancelled, and due when its time is over as well. Once
/// due() was true, raised() is true for the thread that asked and for those that it tells
/// something. Any thread may call, except for arm().
class stop_signal {
public:
  using clock = std::chrono::steady_clock;

  stop_signal() noexcept = default;
  explicit stop_signal(clock::time_point deadline) noexcept : deadline_(deadline) {}

  /// Makes it ready for another step, while nothing works for the one before.
  void arm(clock::time_point deadline = clock::time_point::max()) noexcept {
    deadline_ = deadline;
    state_.store(calm, std::memory_order_relaxed);
  }

  clock::time_point deadline() const noexcept { return deadline_; }

  void raise() noexcept { leave_calm(raised_by_someone); }

  /// Costs a load: for between instructions.
  bool raised() const noexcept { return state_.load(std::memory_order_relaxed) != calm; }
  /// Looks at the clock, which costs some 30 ns: for between pieces of a long loop.
  bool due() noexcept {
    if (raised())
      return true;
    if (deadline_ == clock::time_point::max() || clock::now() < deadline_)
      return false;
    leave_calm(raised_by_clock);
    return true;
  }
  /// Says that the time was over before anybody raised it.
  bool late() const noexcept { return state_.load(std::memory_order_relaxed) == raised_by_clock; }

private:
  enum state : uint8_t { calm, raised_by_someone, raised_by_clock };

  void leave_calm(state to) noexcept {
    auto before = calm;
    state_.compare_exchange_strong(before, to, std::memory_order_relaxed);
  }

  std::atomic<state> state_{calm};
  clock::time_point deadline_ = clock::time_point::max();
};

} // namespace troupe
