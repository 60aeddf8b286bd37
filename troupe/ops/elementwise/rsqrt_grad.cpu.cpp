#include "troupe/ops/elementwise/shared/output_gradients.cpu.hpp"

namespace troupe::ops::rsqrt_grad_cpu {
namespace {

struct reciprocal_root_slope {
  template <class T>
  T operator()(const T& y, const T& dy) const {
    auto z = conjugate_of(y);
    return dy == T{} ? T{} : T(-0.5) * (dy * z) * (z * z);
  }
};

} // namespace

extern constexpr kernel_def rsqrt_grad_cpu{
    .op = "RsqrtGrad",
    .run = paired_kernels<reciprocal_root_slope>(types::floating + types::complex),
};

} // namespace troupe::ops::rsqrt_grad_cpu
