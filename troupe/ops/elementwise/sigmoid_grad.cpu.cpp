#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::sigmoid_grad_cpu {
namespace {

struct logistic_slope {
  template <class T>
  T operator()(const T& y, const T& dy) const {
    return dy * y * (T{1} - y);
  }
};

} // namespace

extern constexpr kernel_def sigmoid_grad_cpu{
    .op = "SigmoidGrad",
    .run = paired_kernels<logistic_slope>(types::floating + types::complex),
};

} // namespace troupe::ops::sigmoid_grad_cpu
