#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::tan_cpu {
namespace {

struct tangent {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::tan(x);
  }
};

} // namespace

extern constexpr kernel_def tan_cpu{
    .op = "Tan",
    .run = unary_kernels<tangent>(types::floating + types::complex),
};

} // namespace troupe::ops::tan_cpu
