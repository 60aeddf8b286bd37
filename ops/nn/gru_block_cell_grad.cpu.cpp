#include "troupe/ops/nn/gru.cpu.hpp"

namespace troupe::ops {
namespace {

template <class T>
status run(kernel_context& at) {
  TROUPE_ASSIGN(auto of, check_gru(at));
  auto [batch, inputs, cells] = of;
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
    TROUPE_TRY(gemm(at.device(), false, true, batch, inputs, columns, gradient, w, x, at.stop()));
    return gemm(at.device(), false, true, batch, cells, columns, gradient, w + inputs * columns, h,
                at.stop());
  };
  for_cells(at, batch, cells, 1, [&](int64_t row, int64_t begin, int64_t end) {
    for (auto j = row * cells + begin; j < row * cells + end; ++j) {
      d_c[j] = d_h[j] * (T{1} - u[j]) * (T{1} - c[j] * c[j]);
      d_ru[j + (row + 1) * cells] = d_h[j] * (h_prev[j] - c[j]) * u[j] * (T{1} - u[j]);
    }
  });
  TROUPE_TRY(back(cells, d_c, w_c, other_x, d_kept));
  for_cells(at, batch, cells, 1, [&](int64_t row, int64_t begin, int64_t end) {
    for (auto j = row * cells + begin; j < row * cells + end; ++j)
      d_ru[j + row * cells] = d_kept[j] * h_prev[j] * r[j] * (T{1} - r[j]);
  });
  TROUPE_TRY(back(2 * cells, d_ru, w_ru, d_x, d_h_prev));
  at.parallel_for(batch * cells, 1, [&](int64_t begin, int64_t end) {
    for (auto j = begin; j < end; ++j)
      d_h_prev[j] += d_kept[j] * r[j] + d_h[j] * u[j];
  });
  at.parallel_for(batch * inputs, 0.5, [&](int64_t begin, int64_t end) {
    for (auto j = begin; j < end; ++j)
      d_x[j] += other_x[j];
  });
  return {};
}

} // namespace

extern constexpr kernel_def gru_block_cell_grad_cpu{
    .op = "GRUBlockCellGrad",
    .run = {{dtype::f32, run<float>}, {dtype::f64, run<double>}},
};

} // namespace troupe::ops
