#include "troupe/ops/recurrent/shared/gru.cuda.hpp"

namespace troupe::ops::gru_block_cell_gpu {
namespace {

// [r, u] from what x and h_prev contribute, and what r leaves of h_prev.
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

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(gru_block_cell){
    .op = "GRUBlockCell",
    .device = device_kind::gpu,
    .run = {{dtype::f32, gru_on_gpu<float>}, {dtype::f64, gru_on_gpu<double>}},
};

} // namespace troupe::ops::gru_block_cell_gpu
