// Shared by the kernels of LinSpace.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

template <class T>
struct linear_steps {
  compute_type<T> first, step;
  T last;
  int64_t count;

  /// Element i; the last element is exact.
  constexpr compute_type<T> at(int64_t i) const {
    return first + step * static_cast<compute_type<T>>(i);
  }
};

/// Checks the inputs.
template <class T>
result<linear_steps<T>> plan_lin_space(const kernel_context& at) {
  for (int i = 0; i < 3; ++i)
    if (at.input(i).elements() != 1)
      return invalid("start, stop and num must be scalars, got shape ", at.input(i).dims());
  auto count = to_integers(at.input(2))[0];
  if (count <= 0)
    return invalid("num must be positive, got ", count);
  const T start = *at.input(0).data<T>(), stop = *at.input(1).data<T>();
  auto first = static_cast<compute_type<T>>(widen(start));
  auto step = count > 1 ? (widen(stop) - first) / static_cast<compute_type<T>>(count - 1) : 0;
  return linear_steps<T>{first, step, count > 1 ? stop : start, count};
}

} // namespace troupe::ops
