#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::sqrt_cpu {
namespace {

struct root {
  template <class T>
  T operator()(const T& x) const {
    return std::sqrt(x);
  }
};

} // namespace

extern constexpr kernel_def sqrt_cpu{
    .op = "Sqrt",
    .run = unary_kernels<root>(types::floating + types::complex),
};

} // namespace troupe::ops::sqrt_cpu
