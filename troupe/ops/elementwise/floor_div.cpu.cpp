#include "troupe/ops/elementwise/shared/division.cpu.hpp"

#include <cmath>

namespace troupe::ops::floor_div_cpu {
namespace {

struct floor_divides {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (!std::is_integral_v<T>) {
      return std::floor(a / b);
    } else {
      auto quotient = divides{}(a, b);
      bool exact = wrapping(std::multiplies<>{}, quotient, b) == a;
      return exact || (a < T{0}) == (b < T{0}) ? quotient : static_cast<T>(quotient - 1);
    }
  }
};

} // namespace

extern constexpr kernel_def floor_div_cpu{
    .op = "FloorDiv",
    .run = division_kernels<floor_divides>(types::real_numbers),
};

} // namespace troupe::ops::floor_div_cpu
