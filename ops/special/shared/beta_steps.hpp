// What the kernels of Betainc share.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// The shape of the output, and for each input 1, or 0 where it is a scalar.
struct steps_of_three {
  shape dims;
  int64_t of[3] = {};
};

inline result<steps_of_three> beta_steps(const kernel_context& at) {
  steps_of_three made;
  made.dims = at.input(at.input(0).rank() > 0 ? 0 : at.input(1).rank() > 0 ? 1 : 2).dims();
  for (int i = 0; i < 3; ++i) {
    const auto& own = at.input(i).dims();
    if (own.rank() > 0 && !(own == made.dims))
      return invalid("inputs must be scalars or have one shape, got ", made.dims, " and ", own);
    made.of[i] = own.rank() > 0;
  }
  return made;
}

} // namespace troupe::ops
