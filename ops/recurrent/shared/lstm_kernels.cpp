#include "troupe/ops/recurrent/shared/lstm_kernels.hpp"

#include "troupe/ops/recurrent/shared/expect_shape.hpp"

namespace troupe::ops {

result<lstm_extents> check_lstm(kernel_context& at, bool use_peephole, lstm_span span) {
  int first = span == lstm_span::sequence;
  const auto &x = at.input(first).dims(), &state = at.input(first + 1).dims(),
             &w = at.input(first + 3).dims();
  if (x.rank() != 2 + first || state.rank() != 2 || w.rank() != 2)
    return invalid("x must have ", 2 + first, " axes, cs_prev and w two, got shapes ", x, ", ",
                   state, " and ", w);
  lstm_extents extents{.steps = first ? x[0] : 1,
                       .active = 1,
                       .batch = x[first],
                       .inputs = x[first + 1],
                       .cells = state[1]};
  auto cells = extents.cells;
  if (state[0] != extents.batch)
    return invalid("cs_prev has ", state[0], " rows, x has ", extents.batch);
  TROUPE_TRY(expect_shape(at, first + 2, "h_prev", state));
  if (w[1] % 4 != 0 || w[1] / 4 != cells || w[0] < cells || w[0] - cells != extents.inputs)
    return invalid("w must have as many rows as x and h_prev have columns and four columns for "
                   "each cell, got shapes ",
                   w, ", ", x, " and ", state);
  for (int p = 4; use_peephole && p < 7; ++p)
    TROUPE_TRY(expect_shape(at, first + p, "a peephole", shape{cells}));
  TROUPE_TRY(expect_shape(at, first + 7, "b", shape{w[1]}));
  TROUPE_TRY(shape::make(std::array{extents.steps, extents.batch})); // x may have no columns
  if (first) {
    if (at.input(0).rank() != 0)
      return invalid("seq_len_max must be a scalar, got shape ", at.input(0).dims());
    extents.active = *at.input(0).data<int64_t>();
    if (extents.active < 0 || extents.active > extents.steps)
      return invalid("seq_len_max must be in [0, ", extents.steps, "], got ", extents.active);
  }
  return extents;
}

result<shape> lstm_output_shape(const lstm_extents& extents, lstm_span span) {
  return span == lstm_span::sequence
             ? shape::make(std::array{extents.steps, extents.batch, extents.cells})
             : shape::make(std::array{extents.batch, extents.cells});
}

} // namespace troupe::ops
