#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::atanh_cpu {
namespace {

struct inverse_hyperbolic_tangent {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::atanh(x);
  }
};

} // namespace

extern constexpr kernel_def atanh_cpu{
    .op = "Atanh",
    .run = unary_kernels<inverse_hyperbolic_tangent>(types::floating + types::complex),
};

} // namespace troupe::ops::atanh_cpu
