// What the kernels share that make real numbers of complex ones.
#pragma once
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops {

/// out = fn(x), in the precision of x until it is stored.
template <class T, class Fn>
status part(kernel_context& at) {
  return at.output_type(0) == dtype::f32 ? unary<T, Fn, float>(at) : unary<T, Fn, double>(at);
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> part_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, part<Ts, Fn>}...};
}

} // namespace troupe::ops
