#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::neg_cpu {
namespace {

struct negative {
  template <class T>
  T operator()(const T& x) const {
    if constexpr (std::is_integral_v<T>)
      return wrapping(std::minus<>{}, T{0}, x);
    else
      return -x; // 0 - x would lose the sign of zero
  }
};

} // namespace

extern constexpr kernel_def neg_cpu{
    .op = "Neg",
    .run = unary_kernels<negative>(types::floating + types::complex + types::signed_integers),
};

} // namespace troupe::ops::neg_cpu
