#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::tanh_grad_cpu {
namespace {

struct hyperbolic_tangent_slope {
  template <class T>
  T operator()(const T& y, const T& dy) const {
    return dy * (T{1} - y * y);
  }
};

} // namespace

extern constexpr kernel_def tanh_grad_cpu{
    .op = "TanhGrad",
    .run = paired_kernels<hyperbolic_tangent_slope>(types::floating + types::complex),
};

} // namespace troupe::ops::tanh_grad_cpu
