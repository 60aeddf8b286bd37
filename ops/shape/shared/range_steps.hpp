// Shared by the kernels of Range.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/shape/range.hpp"

namespace troupe::ops {

template <class T>
struct range_steps {
  compute_type<T> start, delta;
  shape dims; ///< the output's shape
};

/// Checks the inputs.
template <class T>
result<range_steps<T>> plan_range(const kernel_context& at) {
  for (int i = 0; i < 3; ++i)
    if (at.input(i).elements() != 1)
      return invalid("start, limit and delta must be scalars, got shape ", at.input(i).dims());
  auto scalar = [&](int i) { return compute_type<T>{widen(*at.input(i).template data<T>())}; };
  range_steps<T> plan{scalar(0), scalar(2), {}};
  TROUPE_ASSIGN(auto count, count_steps(plan.start, scalar(1), plan.delta));
  TROUPE_ASSIGN(plan.dims, shape::make(std::span{&count, 1}));
  return plan;
}

} // namespace troupe::ops
