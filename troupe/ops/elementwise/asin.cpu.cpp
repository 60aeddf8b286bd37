#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::asin_cpu {
namespace {

struct inverse_sine {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::asin(x);
  }
};

} // namespace

extern constexpr kernel_def asin_cpu{
    .op = "Asin",
    .run = unary_kernels<inverse_sine>(types::floating + types::complex),
};

} // namespace troupe::ops::asin_cpu
