#include "troupe/ops/nn/gru.cuda.hpp"

namespace troupe::ops {
namespace {

// The gradients of c and of u's half of the gates.
template <class T>
struct gru_first_body {
  int64_t cells;
  const T *h_prev, *u, *c, *d_h;
  T *d_c, *d_ru;
  TROUPE_DEVICE void operator()(int64_t j) const {
    auto row = j / cells;
    d_c[j] = d_h[j] * (T{1} - u[j]) * (T{1} - c[j] * c[j]);
    d_ru[j + (row + 1) * cells] = d_h[j] * (h_prev[j] - c[j]) * u[j] * (T{1} - u[j]);
  }
};

// Those of r's half.
template <class T>
struct gru_second_body {
  int64_t cells;
  const T *h_prev, *r, *d_kept;
  T* d_ru;
  TROUPE_DEVICE void operator()(int64_t j) const {
    d_ru[j + j / cells * cells] = d_kept[j] * h_prev[j] * r[j] * (T{1} - r[j]);
  }
};

template <class T>
struct gru_state_body {
  const T *r, *u, *d_h, *d_kept;
  T* d_h_prev;
  TROUPE_DEVICE void operator()(int64_t j) const {
    d_h_prev[j] += d_kept[j] * r[j] + d_h[j] * u[j];
  }
};

template <class T>
struct gru_add_body {
  const T* x;
  T* to;
  TROUPE_DEVICE void operator()(int64_t j) const { to[j] += x[j]; }
};

template <class T>
status gru_gradient_on_gpu(kernel_context& at) {
  TROUPE_ASSIGN(auto of, check_gru(at));
  auto batch = of.batch, inputs = of.inputs, cells = of.cells;
  const auto& state = at.input(1).dims();
  TROUPE_TRY(check_gru_gradient(at));
  TROUPE_ASSIGN(auto gates, shape::make(std::array{batch, 2 * cells}));
  TROUPE_ASSIGN(auto* to_x, at.allocate(0, at.input(0).dims()));
  TROUPE_ASSIGN(auto* to_h, at.allocate(1, state));
  TROUPE_ASSIGN(auto* to_c, at.allocate(2, state));
  TROUPE_ASSIGN(auto* to_gates, at.allocate(3, gates));
  // What reaches x and h_prev on one of the two ways.
  TROUPE_ASSIGN(auto x_part, tensor::make(dtype_of<T>, at.input(0).dims(), at.memory()));
  TROUPE_ASSIGN(auto h_part, tensor::make(dtype_of<T>, state, at.memory()));
  const T *h_prev = at.input(1).data<T>(), *w_ru = at.input(2).data<T>(),
          *w_c = at.input(3).data<T>(), *r = at.input(6).data<T>(), *u = at.input(7).data<T>(),
          *c = at.input(8).data<T>(), *d_h = at.input(9).data<T>();
  auto *d_x = to_x->template data<T>(), *d_h_prev = to_h->template data<T>(),
       *d_c = to_c->template data<T>(), *d_ru = to_gates->template data<T>(),
       *other_x = x_part.template data<T>(), *d_kept = h_part.template data<T>();
  auto back = [&](int64_t columns, const T* gradient, const T* w, T* x, T* h) -> status {
    gpu::transposed_operands second{.b = true};
    TROUPE_TRY(gpu::multiply(at, second, batch, inputs, columns, gradient, w, x));
    return gpu::multiply(at, second, batch, cells, columns, gradient, w + inputs * columns, h);
  };
  auto all = batch * cells;
  TROUPE_TRY(gpu::for_each(at, all, gru_first_body<T>{cells, h_prev, u, c, d_h, d_c, d_ru}));
  TROUPE_TRY(back(cells, d_c, w_c, other_x, d_kept));
  TROUPE_TRY(gpu::for_each(at, all, gru_second_body<T>{cells, h_prev, r, d_kept, d_ru}));
  TROUPE_TRY(back(2 * cells, d_ru, w_ru, d_x, d_h_prev));
  TROUPE_TRY(gpu::for_each(at, all, gru_state_body<T>{r, u, d_h, d_kept, d_h_prev}));
  return gpu::for_each(at, batch * inputs, gru_add_body<T>{other_x, d_x});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(gru_block_cell_grad){
    .op = "GRUBlockCellGrad",
    .device = device_kind::gpu,
    .run = {{dtype::f32, gru_gradient_on_gpu<float>}, {dtype::f64, gru_gradient_on_gpu<double>}},
};

} // namespace troupe::ops
