// Shape functions of the ops that change a variable in place.
#pragma once
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// The last input must have the shape of the variable, input 0.
inline result<shapes> infer_update(const infer_context& at) {
  const auto &variable = at.input(0), &change = at.input(at.inputs() - 1);
  auto joint = merge(variable, change);
  if (joint)
    return shapes{*std::move(joint)};
  return at.invalid("the variable has shape ", variable, ", the change ", change);
}

} // namespace troupe::ops
