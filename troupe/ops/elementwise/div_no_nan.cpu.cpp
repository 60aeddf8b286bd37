#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::div_no_nan_cpu {
namespace {

struct quotient_or_zero {
  static constexpr double cost = cheap;
  template <class T>
  T operator()(const T& x, const T& y) const {
    return y == T{} ? T{} : x / y;
  }
};

} // namespace

extern constexpr kernel_def div_no_nan_cpu{
    .op = "DivNoNan",
    .run = binary_kernels<quotient_or_zero>(types::floating + types::complex),
};

} // namespace troupe::ops::div_no_nan_cpu
