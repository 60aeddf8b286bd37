// Shared by the kernels of quotients and remainders.
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

template <class T>
bool has_no_zero(const void* elements, int64_t count) {
  const auto* from = static_cast<const T*>(elements);
  return std::count(from, from + count, T{0}) == 0;
}

/// out = fn(a, b) with broadcasting; an integer b must not be zero.
template <class T, class Fn>
status divide(kernel_context& at) {
  if constexpr (std::is_integral_v<T>)
    // The quotient may be empty although y is not.
    if (at.input(0).elements() > 0 && !has_no_zero<T>(at.input(1).raw(), at.input(1).elements()))
      return invalid(zero_divisor::text);
  return binary<T, Fn>(at);
}

template <class T, class Fn>
constexpr typed_kernel division_kernel() {
  auto def = binary_kernel<T, Fn>(divide<T, Fn>);
  if constexpr (std::is_integral_v<T>)
    def.accepts_second_input = has_no_zero<T>;
  return def;
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> division_kernels(type_list<Ts...>) {
  return {division_kernel<Ts, Fn>()...};
}

} // namespace troupe::ops
