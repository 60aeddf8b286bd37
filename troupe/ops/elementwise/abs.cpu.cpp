#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::abs_cpu {
namespace {

struct absolute {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return x < 0 ? wrapping(std::minus<>{}, T{0}, x) : x;
    else
      return std::abs(x);
  }
};

} // namespace

extern constexpr kernel_def abs_cpu{
    .op = "Abs",
    .run = unary_kernels<absolute>(types::floating + types::signed_integers),
};

} // namespace troupe::ops::abs_cpu
