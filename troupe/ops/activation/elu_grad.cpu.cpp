#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::elu_grad_cpu {
namespace {

struct elu_slope {
  template <class T>
  T operator()(T gradient, T output) const {
    return output < T{0} ? gradient * (output + T{1}) : gradient;
  }
};

} // namespace

extern constexpr kernel_def elu_grad_cpu{
    .op = "EluGrad",
    .run = paired_kernels<elu_slope>(types::floating),
};

} // namespace troupe::ops::elu_grad_cpu
