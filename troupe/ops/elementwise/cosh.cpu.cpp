#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::cosh_cpu {
namespace {

struct hyperbolic_cosine {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::cosh(x);
  }
};

} // namespace

extern constexpr kernel_def cosh_cpu{
    .op = "Cosh",
    .run = unary_kernels<hyperbolic_cosine>(types::floating + types::complex),
};

} // namespace troupe::ops::cosh_cpu
