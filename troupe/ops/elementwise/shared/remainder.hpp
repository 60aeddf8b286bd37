// What Mod, TruncateMod and FloorMod share: their gradient.
#pragma once
#include "troupe/ops/define/build.hpp"

namespace troupe::ops {

/// z = x - q y, where q is the rounded quotient: dx = dz, dy = -dz * q
inline edges remainder_gradient(gradient_context& at, const char* quotient) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  return {unbroadcast(dz, x, y), unbroadcast(-(dz * build(quotient, {x, y})), y, x)};
}

} // namespace troupe::ops
