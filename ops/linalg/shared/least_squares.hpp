// Shared by the kernels of MatrixSolveLs.
#pragma once
#include "troupe/ops/linalg/shared/matrices.cpu.hpp"

namespace troupe::ops {

#define TROUPE_LACKS_RANK                                                                          \
  " has not full rank, or nearly so: try fast=false, or a larger l2_regularizer"

/// Checks the inputs and returns their layout.
struct least_squares {
  matrix_batch of, right;
  shape dims; ///< the output's shape
};
inline result<least_squares> plan_least_squares(kernel_context& at) {
  const auto &a = at.input(0), &b = at.input(1), &l2 = at.input(2);
  least_squares plan;
  TROUPE_ASSIGN(plan.of, matrices_of(a));
  TROUPE_ASSIGN(plan.right, right_sides_of(a, b));
  if (l2.elements() != 1 || !(*l2.data<double>() >= 0))
    return invalid("l2_regularizer must be a scalar and not negative, got shape ", l2.dims());
  TROUPE_ASSIGN(plan.dims, with_matrix(a.dims(), {plan.of.columns, plan.right.columns}));
  return plan;
}

} // namespace troupe::ops
