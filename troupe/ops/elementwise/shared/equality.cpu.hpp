// What the kernels of Equal and NotEqual share.
#pragma once
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops {

/// Compares element by element. Tensors whose shapes do not fit differ as a whole, if that is no
/// error.
template <class T, class Fn>
status compare(kernel_context& at) {
  if (!at.state<bool>() && !broadcast(at.input(0).dims(), at.input(1).dims())) {
    constexpr bool answer = Fn{}(0, 1);
    TROUPE_ASSIGN(auto* out, at.allocate(0, {}));
    *out->template data<bool>() = answer;
    return {};
  }
  return binary<T, Fn, bool>(at);
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> equality_kernels(type_list<Ts...>) {
  return {binary_kernel<Ts, Fn, bool>(compare<Ts, Fn>)...};
}

} // namespace troupe::ops
