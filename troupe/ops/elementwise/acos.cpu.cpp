#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::acos_cpu {
namespace {

struct inverse_cosine {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::acos(x);
  }
};

} // namespace

extern constexpr kernel_def acos_cpu{
    .op = "Acos",
    .run = unary_kernels<inverse_cosine>(types::floating + types::complex),
};

} // namespace troupe::ops::acos_cpu
