#include "troupe/ops/elementwise/shared/division.cpu.hpp"

#include <cmath>

namespace troupe::ops::truncate_div_cpu {
namespace {

struct truncating_divides {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return divides{}(a, b);
    else
      return std::trunc(a / b);
  }
};

} // namespace

extern constexpr kernel_def truncate_div_cpu{
    .op = "TruncateDiv",
    .run = division_kernels<truncating_divides>(types::real_numbers),
};

} // namespace troupe::ops::truncate_div_cpu
