// What the definitions of MatrixSolve and MatrixTriangularSolve share.
#pragma once
#include "troupe/ops/define/matrices.hpp"

namespace troupe::ops {

/// For x = a^-1 b: db = a'^-1 dx, da = -db x'. The adjoint changes sides. `attrs` are those of the
/// op beside `adjoint`.
inline edges solve_gradient(gradient_context& at, const char* op, attr_map attrs) {
  auto adjoint = at.attr<bool>("adjoint");
  auto x = at.output(0);
  attrs["adjoint"] = !adjoint;
  auto rhs = build(op, {at.input(0), at.output_gradient(0)}, std::move(attrs));
  return {-(adjoint ? product(x, rhs, false, true) : product(rhs, x, false, true)), rhs};
}

} // namespace troupe::ops
