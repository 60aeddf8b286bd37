#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::acosh_cpu {
namespace {

struct inverse_hyperbolic_cosine {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::acosh(x);
  }
};

} // namespace

extern constexpr kernel_def acosh_cpu{
    .op = "Acosh",
    .run = unary_kernels<inverse_hyperbolic_cosine>(types::floating + types::complex),
};

} // namespace troupe::ops::acosh_cpu
