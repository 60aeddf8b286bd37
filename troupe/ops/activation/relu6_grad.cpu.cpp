#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::relu6_grad_cpu {
namespace {

struct pass_inside {
  template <class T>
  T operator()(T gradient, T feature) const {
    return feature > T{0} && feature < T{6} ? gradient : T{0};
  }
};

} // namespace

extern constexpr kernel_def relu6_grad_cpu{
    .op = "Relu6Grad",
    .run = paired_kernels<pass_inside>(types::real_numbers),
};

} // namespace troupe::ops::relu6_grad_cpu
