#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/elementwise/shared/float_functions.cpu.hpp"

#include <cmath>

namespace troupe::ops::log1p_cpu {
namespace {

struct logarithm_plus_one {
  static constexpr double cost = costly;
  float operator()(float x) const { return logarithm_of_one_more(x); }
  double operator()(double x) const { return std::log1p(x); }
  // Near 0 from |1 + x|^2 - 1, which the sum of 1 and x would have lost.
  template <class T>
  std::complex<T> operator()(const std::complex<T>& x) const {
    auto a = x.real(), b = x.imag();
    if (!(std::abs(a) < T(0.5) && std::abs(b) < T(0.5)))
      return std::log(T{1} + x);
    return {std::log1p(a * (2 + a) + b * b) / 2, std::atan2(b, 1 + a)};
  }
};

} // namespace

extern constexpr kernel_def log1p_cpu{
    .op = "Log1p",
    .run = unary_kernels<logarithm_plus_one>(types::floating + types::complex),
};

} // namespace troupe::ops::log1p_cpu
