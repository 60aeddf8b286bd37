// Shared by the kernels of Betainc.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// The shape of the output, and a step for each input: 1, or 0 where it is a scalar.
struct steps_of_three {
  shape dims;
  int64_t of[3] = {};
};

inline result<steps_of_three> beta_steps(const kernel_context& at) {
  steps_of_three steps;
  steps.dims = at.input(at.input(0).rank() > 0 ? 0 : at.input(1).rank() > 0 ? 1 : 2).dims();
  for (int i = 0; i < 3; ++i) {
    const auto& input_dims = at.input(i).dims();
    if (input_dims.rank() > 0 && !(input_dims == steps.dims))
      return invalid("inputs must be scalars or have one shape, got ", steps.dims, " and ",
                     input_dims);
    steps.of[i] = input_dims.rank() > 0;
  }
  return steps;
}

} // namespace troupe::ops
