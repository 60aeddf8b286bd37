#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::sinh_cpu {
namespace {

struct hyperbolic_sine {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::sinh(x);
  }
};

} // namespace

extern constexpr kernel_def sinh_cpu{
    .op = "Sinh",
    .run = unary_kernels<hyperbolic_sine>(types::floating + types::complex),
};

} // namespace troupe::ops::sinh_cpu
