#include "troupe/ops/recurrent/shared/gru.cuda.hpp"

namespace troupe::ops::gru_block_cell_grad_gpu {
namespace {

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
  auto all = batch * cells;
  TROUPE_TRY(gpu::for_each(at, all, gru_first_body<T>{on}));
  TROUPE_TRY(back(cells, on.d_c, on.w_c, on.other_x, on.d_kept));
  TROUPE_TRY(gpu::for_each(at, all, gru_second_body<T>{on}));
  TROUPE_TRY(back(2 * cells, on.d_ru, on.w_ru, on.d_x, on.d_h_prev));
  TROUPE_TRY(gpu::for_each(at, all, gru_state_body<T>{on}));
  return gpu::for_each(at, batch * inputs, gru_add_body<T>{on.other_x, on.d_x});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(gru_block_cell_grad){
    .op = "GRUBlockCellGrad",
    .device = device_kind::gpu,
    .run = {{dtype::f32, gru_gradient_on_gpu<float>}, {dtype::f64, gru_gradient_on_gpu<double>}},
};

} // namespace troupe::ops::gru_block_cell_grad_gpu
