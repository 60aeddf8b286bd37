#include "troupe/ops/math/elementwise.cpu.hpp"

namespace troupe::ops {
namespace {

struct pass_where_positive {
  template <class T>
  T operator()(T gradient, T feature) const {
    return feature > T{0} ? gradient : T{0};
  }
};

template <class T>
status run(kernel_context& at) {
  if (!(at.input(0).dims() == at.input(1).dims()))
    return invalid("gradients have shape ", at.input(0).dims(), ", features ", at.input(1).dims(),
                   "; they must be equal");
  return binary<T, pass_where_positive>(at);
}

template <class... Ts>
constexpr upto<typed_kernel, 18> table(type_list<Ts...>) {
  return {binary_kernel<Ts, pass_where_positive>(run<Ts>)...};
}

} // namespace

extern constexpr kernel_def relu_grad_cpu{
    .op = "ReluGrad",
    .device = device_kind::cpu,
    .run = table(types::real_numbers),
};

} // namespace troupe::ops
