// What the kernels of activations' gradients share.
#pragma once
#include "troupe/ops/math/elementwise.cpu.hpp"

namespace troupe::ops {

/// Gradients are not broadcast.
inline status check_activation_gradient(const kernel_context& at) {
  const auto &gradients = at.input(0).dims(), &features = at.input(1).dims();
  if (gradients == features)
    return {};
  return invalid("gradients have shape ", gradients, ", features ", features,
                 "; they must be equal");
}

template <class T, class Fn>
status activation_gradient_run(kernel_context& at) {
  TROUPE_TRY(check_activation_gradient(at));
  return binary<T, Fn>(at);
}

/// `Fn` computes an element from the gradient and the feature (or output) there.
template <class Fn, class... Ts>
constexpr upto<typed_kernel, 18> activation_gradient_kernels(type_list<Ts...>) {
  return {binary_kernel<Ts, Fn>(activation_gradient_run<Ts, Fn>)...};
}

} // namespace troupe::ops
