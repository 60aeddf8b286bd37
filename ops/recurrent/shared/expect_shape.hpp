// A check that kernels of recurrent cells apply to many inputs.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

inline status expect_shape(const kernel_context& at, int input, std::string_view name,
                           const shape& dims) {
  if (at.input(input).dims() == dims)
    return {};
  return invalid(name, " must have shape ", dims, ", got ", at.input(input).dims());
}

} // namespace troupe::ops
