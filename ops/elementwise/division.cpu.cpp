#include "troupe/ops/elementwise/shared/division.cpu.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::division_cpu {
namespace {

struct quotient_or_zero {
  static constexpr double cost = cheap;
  template <class T>
  T operator()(const T& x, const T& y) const {
    return y == T{} ? T{} : x / y;
  }
};

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

extern constexpr kernel_def div_cpu{
    .op = "Div",
    .run = division_kernels<divides>(types::numbers),
};

extern constexpr kernel_def real_div_cpu{
    .op = "RealDiv",
    .run = division_kernels<divides>(types::numbers),
};

extern constexpr kernel_def div_no_nan_cpu{
    .op = "DivNoNan",
    .run = binary_kernels<quotient_or_zero>(types::floating + types::complex),
};

extern constexpr kernel_def floor_div_cpu{
    .op = "FloorDiv",
    .run = division_kernels<floor_divides>(types::real_numbers),
};

extern constexpr kernel_def truncate_div_cpu{
    .op = "TruncateDiv",
    .run = division_kernels<truncating_divides>(types::real_numbers),
};

} // namespace troupe::ops::division_cpu
