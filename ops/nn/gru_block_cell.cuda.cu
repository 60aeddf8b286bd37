#include "troupe/ops/nn/gru.cuda.hpp"

namespace troupe::ops {
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
  TROUPE_ASSIGN(auto of, check_gru(at));
  auto batch = of.batch, inputs = of.inputs, cells = of.cells;
  const auto& state = at.input(1).dims();
  T* out[4];
  for (int i = 0; i < 4; ++i) {
    TROUPE_ASSIGN(auto* made, at.allocate(i, state));
    out[i] = made->template data<T>();
  }
  auto [r, u, c, h] = out;
  TROUPE_ASSIGN(auto gates, shape::make(std::array{int64_t{2}, batch, 2 * cells}));
  TROUPE_ASSIGN(auto sums, tensor::make(dtype_of<T>, gates, at.memory()));
  TROUPE_ASSIGN(auto kept, tensor::make(dtype_of<T>, state, at.memory()));
  auto* from_x = sums.template data<T>();
  auto *from_h = from_x + batch * 2 * cells, *h_kept = kept.template data<T>();
  const T *x = at.input(0).data<T>(), *h_prev = at.input(1).data<T>();
  auto multiply = [&](int64_t columns, const T* second, const T* w) -> status {
    TROUPE_TRY(gpu::multiply(at, {}, batch, columns, inputs, x, w, from_x));
    return gpu::multiply(at, {}, batch, columns, cells, second, w + inputs * columns, from_h);
  };
  TROUPE_TRY(multiply(2 * cells, h_prev, at.input(2).data<T>()));
  TROUPE_TRY(gpu::for_each(
      at, batch * cells,
      gru_gate_body<T>{cells, from_x, from_h, at.input(4).data<T>(), h_prev, r, u, h_kept}));
  TROUPE_TRY(multiply(cells, h_kept, at.input(3).data<T>()));
  return gpu::for_each(
      at, batch * cells,
      gru_blend_body<T>{cells, from_x, from_h, at.input(5).data<T>(), h_prev, u, c, h});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(gru_block_cell){
    .op = "GRUBlockCell",
    .device = device_kind::gpu,
    .run = {{dtype::f32, gru_on_gpu<float>}, {dtype::f64, gru_on_gpu<double>}},
};

} // namespace troupe::ops
