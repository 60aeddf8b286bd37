#include "troupe/ops/kernel/gpu/scalar_functions.cuda.hpp"
#include "troupe/ops/matmul/shared/product.cuda.hpp"
#include "troupe/ops/recurrent/shared/gru_kernels.hpp"

#include <math.h>

namespace troupe::ops::gru_block_cell_gpu {
namespace {

// Computes [r, u] from the contributions of x and h_prev, and the part of h_prev that r keeps.
template <class T>
struct gru_gate_body {
  int64_t cells;
  const T *from_x, *from_h, *bias, *h_prev;
  T *r, *u, *kept;
  TROUPE_DEVICE void operator()(int64_t at) const {
    auto row = at / cells, j = at - row * cells, place = 2 * row * cells + j;
    r[at] = gpu::logistic(from_x[place] + from_h[place] + bias[j]);
    u[at] = gpu::logistic(from_x[place + cells] + from_h[place + cells] + bias[cells + j]);
    kept[at] = h_prev[at] * r[at];
  }
};

template <class T>
struct gru_blend_body {
  int64_t cells;
  const T *from_x, *from_h, *bias, *h_prev, *u;
  T *c, *h;
  TROUPE_DEVICE void operator()(int64_t at) const {
    c[at] = tanh(from_x[at] + from_h[at] + bias[at % cells]);
    h[at] = (T{1} - u[at]) * c[at] + u[at] * h_prev[at];
  }
};

template <class T>
status gru_on_gpu(kernel_context& at) {
  TROUPE_ASSIGN(auto on, begin_gru<T>(at));
  auto batch = on.of.batch, inputs = on.of.inputs, cells = on.of.cells;
  auto multiply = [&](int64_t columns, const T* second, const T* w) -> status {
    TROUPE_TRY(gpu::multiply(at, {}, batch, columns, inputs, on.x, w, on.from_x));
    return gpu::multiply(at, {}, batch, columns, cells, second, w + inputs * columns, on.from_h);
  };
  TROUPE_TRY(multiply(2 * cells, on.h_prev, on.w_ru));
  TROUPE_TRY(gpu::for_each(
      at, batch * cells,
      gru_gate_body<T>{cells, on.from_x, on.from_h, on.b_ru, on.h_prev, on.r, on.u, on.h_kept}));
  TROUPE_TRY(multiply(cells, on.h_kept, on.w_c));
  return gpu::for_each(
      at, batch * cells,
      gru_blend_body<T>{cells, on.from_x, on.from_h, on.b_c, on.h_prev, on.u, on.c, on.h});
}

template <class T>
struct gru_first_body {
  gru_slopes<T> on;
  TROUPE_DEVICE void operator()(int64_t j) const { on.first(j, j / on.of.cells); }
};

template <class T>
struct gru_second_body {
  gru_slopes<T> on;
  TROUPE_DEVICE void operator()(int64_t j) const { on.second(j, j / on.of.cells); }
};

template <class T>
struct gru_state_body {
  gru_slopes<T> on;
  TROUPE_DEVICE void operator()(int64_t j) const { on.add_state(j); }
};

template <class T>
struct gru_add_body {
  const T* x;
  T* to;
  TROUPE_DEVICE void operator()(int64_t j) const { to[j] += x[j]; }
};

template <class T>
status gru_gradient_on_gpu(kernel_context& at) {
  TROUPE_ASSIGN(auto begun, begin_gru_gradient<T>(at));
  const auto& on = begun.slopes;
  auto batch = on.of.batch, inputs = on.of.inputs, cells = on.of.cells;
  auto back = [&](int64_t columns, const T* gradient, const T* w, T* x, T* h) -> status {
    gpu::transposed_operands second{.b = true};
    TROUPE_TRY(gpu::multiply(at, second, batch, inputs, columns, gradient, w, x));
    return gpu::multiply(at, second, batch, cells, columns, gradient, w + inputs * columns, h);
  };
  auto elements = batch * cells;
  TROUPE_TRY(gpu::for_each(at, elements, gru_first_body<T>{on}));
  TROUPE_TRY(back(cells, on.d_c, on.w_c, on.other_x, on.d_kept));
  TROUPE_TRY(gpu::for_each(at, elements, gru_second_body<T>{on}));
  TROUPE_TRY(back(2 * cells, on.d_ru, on.w_ru, on.d_x, on.d_h_prev));
  TROUPE_TRY(gpu::for_each(at, elements, gru_state_body<T>{on}));
  return gpu::for_each(at, batch * inputs, gru_add_body<T>{on.other_x, on.d_x});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(gru_block_cell){
    .op = "GRUBlockCell",
    .device = device_kind::gpu,
    .run = {{dtype::f32, gru_on_gpu<float>}, {dtype::f64, gru_on_gpu<double>}},
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(gru_block_cell_grad){
    .op = "GRUBlockCellGrad",
    .device = device_kind::gpu,
    .run = {{dtype::f32, gru_gradient_on_gpu<float>}, {dtype::f64, gru_gradient_on_gpu<double>}},
};

} // namespace troupe::ops::gru_block_cell_gpu
