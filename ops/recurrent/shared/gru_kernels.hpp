// What the kernels of gated recurrent units share, on every device.
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

/// Checks what the gradient gets in addition.
inline status check_gru_gradient(const kernel_context& at) {
  constexpr std::string_view names[] = {"r", "u", "c", "d_h"};
  for (int i = 0; i < 4; ++i)
    TROUPE_TRY(expect_shape(at, 6 + i, names[i], at.input(1).dims()));
  return {};
}

/// Where the kernels of the forward pass read and write: outputs are allocated, and room is made
/// for what is between the products.
template <class T>
struct gru_forward {
  gru_extents of;
  const T *x, *h_prev, *w_ru, *w_c, *b_ru, *b_c;
  T *r, *u, *c, *h;
  T *from_x, *from_h; ///< [batch, 2 * cells]: what x and h_prev contribute to the gates
  T* h_kept;          ///< what r leaves of h_prev
  tensor sums, kept;
};

template <class T>
result<gru_forward<T>> begin_gru(kernel_context& at) {
  TROUPE_ASSIGN(auto of, check_gru(at));
  const auto& state = at.input(1).dims();
  gru_forward<T> made{};
  made.of = of;
  const T** inputs[] = {&made.x, &made.h_prev, &made.w_ru, &made.w_c, &made.b_ru, &made.b_c};
  for (int i = 0; i < 6; ++i)
    *inputs[i] = at.input(i).data<T>();
  T** outputs[] = {&made.r, &made.u, &made.c, &made.h};
  for (int i = 0; i < 4; ++i) {
    TROUPE_ASSIGN(auto* out, at.allocate(i, state));
    *outputs[i] = out->template data<T>();
  }
  TROUPE_ASSIGN(auto gates, shape::make(std::array{int64_t{2}, of.batch, 2 * of.cells}));
  TROUPE_ASSIGN(made.sums, tensor::make(dtype_of<T>, gates, at.memory()));
  TROUPE_ASSIGN(made.kept, tensor::make(dtype_of<T>, state, at.memory()));
  made.from_x = made.sums.template data<T>();
  made.from_h = made.from_x + of.batch * 2 * of.cells;
  made.h_kept = made.kept.template data<T>();
  return made;
}

/// The same for the gradient; devices are given this part of it.
template <class T>
struct gru_slopes {
  gru_extents of;
  const T *h_prev, *w_ru, *w_c, *r, *u, *c, *d_h;
  T *d_x, *d_h_prev, *d_c, *d_ru;
  T *other_x, *d_kept; ///< what reaches x and h_prev on one of the two ways

  /// The gradients of c and of u's half of the gates, at place j of the state.
  constexpr void first(int64_t j, int64_t row) const {
    d_c[j] = d_h[j] * (T{1} - u[j]) * (T{1} - c[j] * c[j]);
    d_ru[j + (row + 1) * of.cells] = d_h[j] * (h_prev[j] - c[j]) * u[j] * (T{1} - u[j]);
  }
  /// Those of r's half.
  constexpr void second(int64_t j, int64_t row) const {
    d_ru[j + row * of.cells] = d_kept[j] * h_prev[j] * r[j] * (T{1} - r[j]);
  }
  /// What else reaches h_prev.
  constexpr void add_state(int64_t j) const { d_h_prev[j] += d_kept[j] * r[j] + d_h[j] * u[j]; }
};

template <class T>
struct gru_backward {
  gru_slopes<T> slopes;
  tensor x_part, h_part;
};

template <class T>
result<gru_backward<T>> begin_gru_gradient(kernel_context& at) {
  gru_backward<T> all{};
  auto& made = all.slopes;
  TROUPE_ASSIGN(made.of, check_gru(at));
  TROUPE_TRY(check_gru_gradient(at));
  const auto &x = at.input(0).dims(), &state = at.input(1).dims();
  const T** inputs[] = {&made.r, &made.u, &made.c, &made.d_h};
  for (int i = 0; i < 4; ++i)
    *inputs[i] = at.input(6 + i).data<T>();
  made.h_prev = at.input(1).data<T>();
  made.w_ru = at.input(2).data<T>();
  made.w_c = at.input(3).data<T>();
  TROUPE_ASSIGN(auto gates, shape::make(std::array{made.of.batch, 2 * made.of.cells}));
  const shape* dims[] = {&x, &state, &state, &gates};
  T** outputs[] = {&made.d_x, &made.d_h_prev, &made.d_c, &made.d_ru};
  for (int i = 0; i < 4; ++i) {
    TROUPE_ASSIGN(auto* out, at.allocate(i, *dims[i]));
    *outputs[i] = out->template data<T>();
  }
  TROUPE_ASSIGN(all.x_part, tensor::make(dtype_of<T>, x, at.memory()));
  TROUPE_ASSIGN(all.h_part, tensor::make(dtype_of<T>, state, at.memory()));
  made.other_x = all.x_part.template data<T>();
  made.d_kept = all.h_part.template data<T>();
  return all;
}

} // namespace troupe::ops
