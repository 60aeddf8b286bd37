#include "troupe/ops/elementwise/shared/output_gradients.cpu.hpp"

namespace troupe::ops::sqrt_grad_cpu {
namespace {

struct root_slope {
  template <class T>
  T operator()(const T& y, const T& dy) const {
    return dy == T{} ? T{} : T(0.5) * dy / conjugate_of(y);
  }
};

} // namespace

extern constexpr kernel_def sqrt_grad_cpu{
    .op = "SqrtGrad",
    .run = paired_kernels<root_slope>(types::floating + types::complex),
};

} // namespace troupe::ops::sqrt_grad_cpu
