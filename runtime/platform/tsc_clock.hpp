// Clocks that are cheap enough to be read a million times per second.
#pragma once
#include <chrono>
#include <cstdint>

namespace troupe {

/// Nanoseconds of the steady clock.
inline int64_t steady_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Reads a counter that runs at a constant rate, the same on all cores, at half the cost of the
/// steady clock. The unit follows from two moments at which both clocks were read: see tick_scale.
inline int64_t ticks_now() noexcept {
#if defined(__x86_64__)
  return static_cast<int64_t>(__builtin_ia32_rdtsc());
#elif defined(__aarch64__)
  int64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return steady_ns();
#endif
}

/// The same moment on both clocks.
struct moment {
  int64_t ticks = 0;
  int64_t ns = 0;

  static moment now() noexcept { return {ticks_now(), steady_ns()}; }
};

/// Converts ticks to nanoseconds of the steady clock by the line through two moments.
class tick_scale {
public:
  tick_scale(moment first, moment last) noexcept
      : first_(first),
        ns_per_tick_(last.ticks > first.ticks ? static_cast<double>(last.ns - first.ns) /
                                                    static_cast<double>(last.ticks - first.ticks)
                                              : 0) {}
  int64_t ns(int64_t ticks) const noexcept {
    return first_.ns +
           static_cast<int64_t>(static_cast<double>(ticks - first_.ticks) * ns_per_tick_);
  }

private:
  moment first_;
  double ns_per_tick_;
};

} // namespace troupe
