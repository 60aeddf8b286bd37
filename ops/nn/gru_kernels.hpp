// What the kernels of gated recurrent units share, on every device.
#pragma once
#include "troupe/ops/nn/expect_shape.hpp"

namespace troupe::ops {

struct gru_extents {
  int64_t batch, inputs, cells;
};

/// Checks x, h_prev, w_ru, w_c, b_ru and b_c.
inline result<gru_extents> check_gru(const kernel_context& at) {
  const auto &x = at.input(0).dims(), &state = at.input(1).dims(), &w = at.input(2).dims();
  if (x.rank() != 2 || state.rank() != 2 || w.rank() != 2)
    return invalid("x, h_prev and w_ru must be matrices, got shapes ", x, ", ", state, " and ", w);
  auto cells = state[1];
  if (state[0] != x[0])
    return invalid("h_prev has ", state[0], " rows, x has ", x[0]);
  if (w[1] % 2 != 0 || w[1] / 2 != cells || w[0] < cells || w[0] - cells != x[1])
    return invalid("w_ru must have as many rows as x and h_prev have columns and two columns for "
                   "each cell, got shapes ",
                   w, ", ", x, " and ", state);
  TROUPE_TRY(expect_shape(at, 3, "w_c", shape{w[0], cells}));
  TROUPE_TRY(expect_shape(at, 4, "b_ru", shape{w[1]}));
  TROUPE_TRY(expect_shape(at, 5, "b_c", shape{cells}));
  return gru_extents{x[0], x[1], cells};
}

/// Checks what the gradient gets in addition.
inline status check_gru_gradient(const kernel_context& at) {
  constexpr std::string_view names[] = {"r", "u", "c", "d_h"};
  for (int i = 0; i < 4; ++i)
    TROUPE_TRY(expect_shape(at, 6 + i, names[i], at.input(1).dims()));
  return {};
}

} // namespace troupe::ops
