// What Equal and NotEqual share: the shape of their output.
#pragma once
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// By broadcasting; but where inputs need not fit, only a run knows whether it is a scalar instead.
inline result<shapes> infer_equality(const infer_context& at) {
  if (at.attr<bool>("incompatible_shape_error"))
    return infer::broadcast_inputs(at);
  const auto &x = at.input(0), &y = at.input(1);
  if (x.fully_known() && y.fully_known())
    if (auto joint = broadcast(x, y))
      return shapes{*std::move(joint)};
  return shapes{partial_shape::unknown()};
}

} // namespace troupe::ops
