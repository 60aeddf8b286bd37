// What Erf and Erfc share.
#pragma once
#include "troupe/ops/define/build.hpp"

#include <numbers>

namespace troupe::ops {

/// dy * d erf(x) / dx = dy * 2 / sqrt(pi) * exp(-x^2)
inline edge error_function_gradient(gradient_context& at) {
  auto x = at.input(0);
  return at.output_gradient(0) * scalar_like(x, 2 * std::numbers::inv_sqrtpi) *
         build("Exp", {-build("Square", {x})});
}

} // namespace troupe::ops
