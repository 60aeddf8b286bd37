// Kernels that return their inputs unchanged.
#pragma once
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops {

/// Output i is input i.
inline status pass_inputs(kernel_context& at) {
  for (int i = 0; i < at.inputs(); ++i)
    at.set_output(i, at.input(i));
  return {};
}

/// Output 0 is input 0, which must have the shape kept by `prepare`.
inline status pass_shaped(kernel_context& at) {
  const auto& dims = at.state<partial_shape>();
  if (!dims.compatible(at.input(0).dims()))
    return invalid("input must have the shape ", dims, ", got ", at.input(0).dims());
  return pass_inputs(at);
}

} // namespace troupe::ops
