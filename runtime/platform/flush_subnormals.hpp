// Arithmetic without subnormal numbers, which processors are slow with.
#pragma once
#include <cstdint>

namespace troupe {

/// While it lives, its thread takes numbers nearer to zero than the smallest normal one (1.2e-38
/// for f32) as zero, inputs and results alike. A gradient that dies away is such numbers before it
/// is zero, and a processor takes tens of times as long for each of them: a step would take ten
/// times as long for having nothing left to learn. Does nothing on processors that it does not
/// know.
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
  static constexpr word flags = 1u << 15 | 1u << 6; // results; inputs
  static word control() noexcept { return __builtin_ia32_stmxcsr(); }
  static void set_control(word to) noexcept { __builtin_ia32_ldmxcsr(to); }
#elif defined(__aarch64__)
  using word = uint64_t;
  static constexpr word flags = 1u << 24; // both
  static word control() noexcept {
    word now;
    asm volatile("mrs %0, fpcr" : "=r"(now));
    return now;
  }
  static void set_control(word to) noexcept { asm volatile("msr fpcr, %0" : : "r"(to)); }
#else
  using word = unsigned;
  static constexpr word flags = 0;
  static word control() noexcept { return 0; }
  static void set_control(word) noexcept {}
#endif

  const word before_;
};

} // namespace troupe
