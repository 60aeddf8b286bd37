#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::asinh_cpu {
namespace {

struct inverse_hyperbolic_sine {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::asinh(x);
  }
};

} // namespace

extern constexpr kernel_def asinh_cpu{
    .op = "Asinh",
    .run = unary_kernels<inverse_hyperbolic_sine>(types::floating + types::complex),
};

} // namespace troupe::ops::asinh_cpu
