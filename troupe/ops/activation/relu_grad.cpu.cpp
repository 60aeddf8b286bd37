#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::relu_grad_cpu {
namespace {

struct pass_where_positive {
  template <class T>
  T operator()(T gradient, T feature) const {
    return feature > T{0} ? gradient : T{0};
  }
};

} // namespace

extern constexpr kernel_def relu_grad_cpu{
    .op = "ReluGrad",
    .run = paired_kernels<pass_where_positive>(types::real_numbers),
};

} // namespace troupe::ops::relu_grad_cpu
