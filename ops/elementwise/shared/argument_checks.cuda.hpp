// Element-wise GPU kernels that reject some integers as their second operand.
#pragma once
#include "troupe/ops/elementwise/shared/argument_checks.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

template <class Fn, class Refusal>
struct unless_refused {
  device_errors to;
  template <class T>
  TROUPE_DEVICE T operator()(T a, T b) const {
    if (!Refusal::refuses(b))
      return Fn{}(a, b);
    to.add();
    return T(0);
  }
};

template <class T, class Fn, class Refusal>
status binary_unless(kernel_context& at) {
  if constexpr (std::is_integral_v<T>)
    return binary_with<T, T>(at, unless_refused<Fn, Refusal>{device_errors(at, Refusal::text)});
  else
    return binary<T, Fn>(at);
}

/// Integers have no fused code, because a kernel fused from a chain of ops cannot report errors.
template <class Fn, class Refusal, class... Ts>
constexpr inplace_vector<typed_kernel, 18> binary_kernels_unless(type_list<Ts...>) {
  return {{.type = dtype_of<Ts>,
           .run = binary_unless<Ts, Fn, Refusal>,
           .code = std::is_integral_v<Ts> ? nullptr : code_of<Fn>()}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
