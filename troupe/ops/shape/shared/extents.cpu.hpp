// What the kernels of Shape and ShapeN share.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

#include <limits>

namespace troupe::ops {

/// Output i lists the extents of input i, for each i.
template <class T>
status list_extents(kernel_context& at) {
  for (int i = 0; i < at.inputs(); ++i) {
    const auto& dims = at.input(i).dims();
    TROUPE_ASSIGN(auto* out, at.allocate(i, {dims.rank()}));
    auto* to = out->template data<T>();
    for (auto extent : dims) {
      if (extent > std::numeric_limits<T>::max())
        return invalid("extent ", extent, " of ", dims, " is beyond ", out->type());
      *to++ = static_cast<T>(extent);
    }
  }
  return {};
}

} // namespace troupe::ops
