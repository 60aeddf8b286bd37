// What Add and AddV2 share.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops {

inline edges sum_gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  return {unbroadcast(dz, x, y), unbroadcast(dz, y, x)};
}

/// x + 0 = x
inline edge simplify_sum(simplify_context& at) {
  for (int i : {0, 1})
    if (at.is_all(1 - i, 0) && at.keeps_shape_of(i))
      return at.input(i);
  return {};
}

} // namespace troupe::ops
