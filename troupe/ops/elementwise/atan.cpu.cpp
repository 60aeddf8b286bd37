#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::atan_cpu {
namespace {

struct inverse_tangent {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::atan(x);
  }
};

} // namespace

extern constexpr kernel_def atan_cpu{
    .op = "Atan",
    .run = unary_kernels<inverse_tangent>(types::floating + types::complex),
};

} // namespace troupe::ops::atan_cpu
