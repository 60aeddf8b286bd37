#include "troupe/ops/elementwise/shared/division.cpu.hpp"

#include <cmath>

namespace troupe::ops::remainder_cpu {
namespace {

// The remainder that has the sign of a.
struct truncated_remainder {
  static constexpr double cost = called;
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (!std::is_integral_v<T>)
      return std::fmod(a, b);
    else if constexpr (std::is_signed_v<T>)
      return b == -1 ? T{0} : static_cast<T>(a % b); // min % -1 traps
    else
      return static_cast<T>(a % b);
  }
};

struct floored_remainder {
  static constexpr double cost = called;
  template <class T>
  T operator()(T a, T b) const {
    auto r = truncated_remainder{}(a, b);
    if constexpr (std::is_unsigned_v<T>)
      return r;
    else
      return r != T{0} && (r < T{0}) != (b < T{0}) ? static_cast<T>(r + b) : r;
  }
};

} // namespace

extern constexpr kernel_def mod_cpu{
    .op = "Mod",
    .run = division_kernels<truncated_remainder>(types::real_numbers),
};

extern constexpr kernel_def truncate_mod_cpu{
    .op = "TruncateMod",
    .run = division_kernels<truncated_remainder>(types::real_numbers),
};

extern constexpr kernel_def floor_mod_cpu{
    .op = "FloorMod",
    .run = division_kernels<floored_remainder>(types::real_numbers),
};

} // namespace troupe::ops::remainder_cpu
