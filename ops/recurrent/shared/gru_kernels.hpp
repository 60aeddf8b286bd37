// Shared by the kernels of gated recurrent units, on all devices.
#pragma once
#include "troupe/ops/recurrent/shared/expect_shape.hpp"
#include "troupe/runtime/graph/kernel.hpp"

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

/// Checks the additional inputs of the gradient.
inline status check_gru_gradient(const kernel_context& at) {
  constexpr std::string_view names[] = {"r", "u", "c", "d_h"};
  for (int i = 0; i < 4; ++i)
    TROUPE_TRY(expect_shape(at, 6 + i, names[i], at.input(1).dims()));
  return {};
}

/// The operands of the forward kernels: outputs are allocated, and so is memory for intermediate
/// values.
template <class T>
struct gru_forward {
  gru_extents of;
  const T *x, *h_prev, *w_ru, *w_c, *b_ru, *b_c;
  T *r, *u, *c, *h;
  T *from_x, *from_h; ///< [batch, 2 * cells]: the contributions of x and h_prev to the gates
  T* h_kept;          ///< the part of h_prev that r keeps
  tensor sums, kept;
};

template <class T>
result<gru_forward<T>> begin_gru(kernel_context& at) {
  TROUPE_ASSIGN(auto extents, check_gru(at));
  const auto& state = at.input(1).dims();
  gru_forward<T> forward{};
  forward.of = extents;
  const T** inputs[] = {&forward.x,   &forward.h_prev, &forward.w_ru,
                        &forward.w_c, &forward.b_ru,   &forward.b_c};
  for (int i = 0; i < 6; ++i)
    *inputs[i] = at.input(i).data<T>();
  T** outputs[] = {&forward.r, &forward.u, &forward.c, &forward.h};
  for (int i = 0; i < 4; ++i) {
    TROUPE_ASSIGN(auto* out, at.allocate(i, state));
    *outputs[i] = out->template data<T>();
  }
  TROUPE_ASSIGN(auto gates, shape::make(std::array{int64_t{2}, extents.batch, 2 * extents.cells}));
  TROUPE_ASSIGN(forward.sums, tensor::make(dtype_of<T>, gates, at.memory()));
  TROUPE_ASSIGN(forward.kept, tensor::make(dtype_of<T>, state, at.memory()));
  forward.from_x = forward.sums.template data<T>();
  forward.from_h = forward.from_x + extents.batch * 2 * extents.cells;
  forward.h_kept = forward.kept.template data<T>();
  return forward;
}

/// The operands of the gradient that device kernels receive.
template <class T>
struct gru_slopes {
  gru_extents of;
  const T *h_prev, *w_ru, *w_c, *r, *u, *c, *d_h;
  T *d_x, *d_h_prev, *d_c, *d_ru;
  T *other_x, *d_kept; ///< the gradients of x and h_prev through one of the two paths

  /// The gradients of c and of u's half of the gates, at index j of the state.
  constexpr void first(int64_t j, int64_t row) const {
    d_c[j] = d_h[j] * (T{1} - u[j]) * (T{1} - c[j] * c[j]);
    d_ru[j + (row + 1) * of.cells] = d_h[j] * (h_prev[j] - c[j]) * u[j] * (T{1} - u[j]);
  }
  /// The gradients of r's half of the gates.
  constexpr void second(int64_t j, int64_t row) const {
    d_ru[j + row * of.cells] = d_kept[j] * h_prev[j] * r[j] * (T{1} - r[j]);
  }
  /// The remaining part of h_prev's gradient.
  constexpr void add_state(int64_t j) const { d_h_prev[j] += d_kept[j] * r[j] + d_h[j] * u[j]; }
};

template <class T>
struct gru_backward {
  gru_slopes<T> slopes;
  tensor x_part, h_part;
};

template <class T>
result<gru_backward<T>> begin_gru_gradient(kernel_context& at) {
  gru_backward<T> backward{};
  auto& slopes = backward.slopes;
  TROUPE_ASSIGN(slopes.of, check_gru(at));
  TROUPE_TRY(check_gru_gradient(at));
  const auto &x = at.input(0).dims(), &state = at.input(1).dims();
  const T** inputs[] = {&slopes.r, &slopes.u, &slopes.c, &slopes.d_h};
  for (int i = 0; i < 4; ++i)
    *inputs[i] = at.input(6 + i).data<T>();
  slopes.h_prev = at.input(1).data<T>();
  slopes.w_ru = at.input(2).data<T>();
  slopes.w_c = at.input(3).data<T>();
  TROUPE_ASSIGN(auto gates, shape::make(std::array{slopes.of.batch, 2 * slopes.of.cells}));
  const shape* dims[] = {&x, &state, &state, &gates};
  T** outputs[] = {&slopes.d_x, &slopes.d_h_prev, &slopes.d_c, &slopes.d_ru};
  for (int i = 0; i < 4; ++i) {
    TROUPE_ASSIGN(auto* out, at.allocate(i, *dims[i]));
    *outputs[i] = out->template data<T>();
  }
  TROUPE_ASSIGN(backward.x_part, tensor::make(dtype_of<T>, x, at.memory()));
  TROUPE_ASSIGN(backward.h_part, tensor::make(dtype_of<T>, state, at.memory()));
  slopes.other_x = backward.x_part.template data<T>();
  slopes.d_kept = backward.h_part.template data<T>();
  return backward;
}

} // namespace troupe::ops
