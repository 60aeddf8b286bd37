#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::xdivy_cpu {
namespace {

struct zero_or_quotient {
  static constexpr double cost = cheap;
  template <class T>
  T operator()(const T& x, const T& y) const {
    return x == T{} ? T{} : x / y;
  }
};

} // namespace

extern constexpr kernel_def xdivy_cpu{
    .op = "Xdivy",
    .run = binary_kernels<zero_or_quotient>(types::floating + types::complex),
};

} // namespace troupe::ops::xdivy_cpu
