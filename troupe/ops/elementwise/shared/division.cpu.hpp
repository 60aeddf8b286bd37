// What the kernels share that compute quotients or remainders.
#pragma once
#include "troupe/ops/elementwise/shared/argument_checks.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops {

struct divides {
  template <class T>
  T operator()(const T& a, const T& b) const {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
      return b == -1 ? wrapping(std::minus<>{}, T{0}, a) : static_cast<T>(a / b); // min / -1 traps
    else
      return static_cast<T>(a / b);
  }
};

/// out = fn(a, b) with broadcasting, where whole numbers b must not be zero.
template <class T, class Fn>
status divide(kernel_context& at) {
  if constexpr (std::is_integral_v<T>)
    // The quotient may be empty although y is not.
    if (at.input(0).elements() > 0 && std::ranges::count(at.input(1).values<T>(), T{0}) > 0)
      return invalid(zero_divisor::text);
  return binary<T, Fn>(at);
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> division_kernels(type_list<Ts...>) {
  return {std::is_integral_v<Ts> ? typed_kernel{dtype_of<Ts>, divide<Ts, Fn>} // may fail
                                 : binary_kernel<Ts, Fn>(divide<Ts, Fn>)...};
}

} // namespace troupe::ops
