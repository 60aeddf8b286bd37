#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::rsqrt_cpu {
namespace {

struct reciprocal_root {
  template <class T>
  T operator()(const T& x) const {
    return T{1} / std::sqrt(x);
  }
};

} // namespace

extern constexpr kernel_def rsqrt_cpu{
    .op = "Rsqrt",
    .run = unary_kernels<reciprocal_root>(types::floating + types::complex),
};

} // namespace troupe::ops::rsqrt_cpu
