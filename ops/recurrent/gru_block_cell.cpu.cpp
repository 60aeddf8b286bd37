#include "troupe/devices/cpu/gemm.hpp"
#include "troupe/ops/recurrent/shared/gates.cpu.hpp"
#include "troupe/ops/recurrent/shared/gru_kernels.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::gru_block_cell_cpu {
namespace {

// Computes [r, u] from the contributions of x and h_prev, and the part of h_prev that r keeps.
template <class C>
TROUPE_SIMD_CLONES void gate(const C* from_x, const C* from_h, const C* bias, const C* h_prev,
                             int64_t cells, C* r, C* u, C* kept, int64_t begin, int64_t end) {
#pragma GCC ivdep
  for (auto j = begin; j < end; ++j) {
    r[j] = squash(from_x[j] + from_h[j] + bias[j]);
    u[j] = squash(from_x[cells + j] + from_h[cells + j] + bias[cells + j]);
    kept[j] = h_prev[j] * r[j];
  }
}

template <class C>
TROUPE_SIMD_CLONES void blend(const C* from_x, const C* from_h, const C* bias, const C* h_prev,
                              const C* u, C* c, C* h, int64_t begin, int64_t end) {
#pragma GCC ivdep
  for (auto j = begin; j < end; ++j) {
    c[j] = tangent(from_x[j] + from_h[j] + bias[j]);
    h[j] = (C{1} - u[j]) * c[j] + u[j] * h_prev[j];
  }
}

template <class T>
status run_gru_block_cell(kernel_context& at) {
  TROUPE_ASSIGN(auto on, begin_gru<T>(at));
  auto [batch, inputs, cells] = on.of;
  if (batch == 0 || cells == 0)
    return {};
  auto multiply = [&](int64_t columns, const T* second, const T* w) -> status {
    TROUPE_TRY(
        gemm(at.device(), false, false, batch, columns, inputs, on.x, w, on.from_x, at.stop()));
    return gemm(at.device(), false, false, batch, columns, cells, second, w + inputs * columns,
                on.from_h, at.stop());
  };
  TROUPE_TRY(multiply(2 * cells, on.h_prev, on.w_ru));
  for_cells(at, batch, cells, 5, [&](int64_t row, int64_t begin, int64_t end) {
    auto place = row * cells;
    gate(on.from_x + 2 * place, on.from_h + 2 * place, on.b_ru, on.h_prev + place, cells,
         on.r + place, on.u + place, on.h_kept + place, begin, end);
  });
  TROUPE_TRY(multiply(cells, on.h_kept, on.w_c));
  for_cells(at, batch, cells, 3, [&](int64_t row, int64_t begin, int64_t end) {
    auto place = row * cells;
    blend(on.from_x + place, on.from_h + place, on.b_c, on.h_prev + place, on.u + place,
          on.c + place, on.h + place, begin, end);
  });
  return {};
}

template <class T>
status run_gru_block_cell_grad(kernel_context& at) {
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

extern constexpr kernel_def gru_block_cell_cpu{
    .op = "GRUBlockCell",
    .run = {{dtype::f32, run_gru_block_cell<float>}, {dtype::f64, run_gru_block_cell<double>}},
};

extern constexpr kernel_def gru_block_cell_grad_cpu{
    .op = "GRUBlockCellGrad",
    .run = {{dtype::f32, run_gru_block_cell_grad<float>},
            {dtype::f64, run_gru_block_cell_grad<double>}},
};

} // namespace troupe::ops::gru_block_cell_cpu
