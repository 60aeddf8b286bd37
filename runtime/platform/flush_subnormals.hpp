// Switches off arithmetic with subnormal numbers, which is slow on most processors.
#pragma once
#include <cstdint>

namespace troupe {

/// While an object lives, its thread treats numbers nearer to zero than the smallest normal number
/// (1.2e-38 for f32) as zero, in inputs and results alike. A gradient that vanishes becomes
/// subnormal before it becomes zero, and a processor needs tens of times as long for each subnormal
/// number: a step would take ten times as long at the end of training. Does nothing on processors
/// other than x86-64 and AArch64.
class flush_subnormals {
public:
  flush_subnormals() noexcept : before_(control()) {
    if ((before_ & flags) != flags)
      set_control(before_ | flags);
  }
  ~flush_subnormals() {
    if ((before_ & flags) != flags)
      set_control(before_);
  }
  flush_subnormals(const flush_subnormals&) = delete;
  flush_subnormals& operator=(const flush_subnormals&) = delete;

private:
#if defined(__x86_64__)
  using word = unsigned;
  static constexpr word flags = 1u << 15 | 1u << 6; // flush results; treat inputs as zero
  static word control() noexcept { return __builtin_ia32_stmxcsr(); }
  static void set_control(word bits) noexcept { __builtin_ia32_ldmxcsr(bits); }
#elif defined(__aarch64__)
  using word = uint64_t;
  static constexpr word flags = 1u << 24; // inputs and results
  static word control() noexcept {
    word bits;
    asm volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
  }
  static void set_control(word bits) noexcept { asm volatile("msr fpcr, %0" : : "r"(bits)); }
#else
  using word = unsigned;
  static constexpr word flags = 0;
  static word control() noexcept { return 0; }
  static void set_control(word) noexcept {}
#endif

  const word before_;
};

} // namespace troupe
