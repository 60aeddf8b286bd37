#include "troupe/ops/activation/selu.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::selu_grad_cpu {
namespace {

struct selu_slope {
  template <class T>
  T operator()(T gradient, T output) const {
    return gradient *
           (output < T{0} ? output + static_cast<T>(selu_scale_alpha) : static_cast<T>(selu_scale));
  }
};

} // namespace

extern constexpr kernel_def selu_grad_cpu{
    .op = "SeluGrad",
    .run = paired_kernels<selu_slope>(types::floating),
};

} // namespace troupe::ops::selu_grad_cpu
