#include "troupe/ops/elementwise/shared/remainder.cpu.hpp"

namespace troupe::ops::floor_mod_cpu {
namespace {

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

extern constexpr kernel_def floor_mod_cpu{
    .op = "FloorMod",
    .run = division_kernels<floored_remainder>(types::real_numbers),
};

} // namespace troupe::ops::floor_mod_cpu
