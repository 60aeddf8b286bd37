#include "troupe/ops/recurrent/shared/gru.cpu.hpp"

namespace troupe::ops::gru_block_cell_grad_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  TROUPE_ASSIGN(auto begun, begin_gru_gradient<T>(at));
  const auto& on = begun.slopes;
  auto [batch, inputs, cells] = on.of;
  auto back = [&](int64_t columns, const T* gradient, const T* w, T* x, T* h) -> status {
    TROUPE_TRY(gemm(at.device(), false, true, batch, inputs, columns, gradient, w, x, at.stop()));
    return gemm(at.device(), false, true, batch, cells, columns, gradient, w + inputs * columns, h,
                at.stop());
  };
  for_cells(at, batch, cells, 1, [&](int64_t row, int64_t begin, int64_t end) {
    for (auto j = row * cells + begin; j < row * cells + end; ++j)
      on.first(j, row);
  });
  TROUPE_TRY(back(cells, on.d_c, on.w_c, on.other_x, on.d_kept));
  for_cells(at, batch, cells, 1, [&](int64_t row, int64_t begin, int64_t end) {
    for (auto j = row * cells + begin; j < row * cells + end; ++j)
      on.second(j, row);
  });
  TROUPE_TRY(back(2 * cells, on.d_ru, on.w_ru, on.d_x, on.d_h_prev));
  at.parallel_for(batch * cells, 1, [&](int64_t begin, int64_t end) {
    for (auto j = begin; j < end; ++j)
      on.add_state(j);
  });
  at.parallel_for(batch * inputs, 0.5, [&](int64_t begin, int64_t end) {
    for (auto j = begin; j < end; ++j)
      on.d_x[j] += on.other_x[j];
  });
  return {};
}

} // namespace

extern constexpr kernel_def gru_block_cell_grad_cpu{
    .op = "GRUBlockCellGrad",
    .run = {{dtype::f32, run<float>}, {dtype::f64, run<double>}},
};

} // namespace troupe::ops::gru_block_cell_grad_cpu
