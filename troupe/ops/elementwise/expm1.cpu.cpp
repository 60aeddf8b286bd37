#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/elementwise/shared/float_functions.cpu.hpp"

#include <cmath>

namespace troupe::ops::expm1_cpu {
namespace {

struct less_one {
  static constexpr double cost = costly;
  float operator()(float x) const { return x > 80.f ? exponential(x) : exponential_minus_one(x); }
  double operator()(double x) const { return std::expm1(x); }
  // e^a (cos b + i sin b) - 1, with 1 - cos b = 2 sin(b / 2)^2
  template <class T>
  std::complex<T> operator()(const std::complex<T>& x) const {
    auto a = x.real(), b = x.imag();
    if (b == 0)
      return {std::expm1(a), b};
    auto s = std::sin(b / 2);
    return {std::expm1(a) * std::cos(b) - 2 * s * s, std::exp(a) * std::sin(b)};
  }
};

} // namespace

extern constexpr kernel_def expm1_cpu{
    .op = "Expm1",
    .run = unary_kernels<less_one>(types::floating + types::complex),
};

} // namespace troupe::ops::expm1_cpu
