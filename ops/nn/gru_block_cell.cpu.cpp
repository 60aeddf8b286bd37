#include "troupe/ops/nn/gru.cpu.hpp"

namespace troupe::ops {
namespace {

// [r, u] from what x and h_prev contribute, and what r leaves of h_prev.
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
status run(kernel_context& at) {
  TROUPE_ASSIGN(auto of, check_gru(at));
  auto [batch, inputs, cells] = of;
  std::array<T*, 4> out{};
  for (int i = 0; i < 4; ++i) {
    TROUPE_ASSIGN(auto* made, at.allocate(i, at.input(1).dims()));
    out[static_cast<size_t>(i)] = made->template data<T>();
  }
  auto [r, u, c, h] = out;
  TROUPE_ASSIGN(auto gates, shape::make(std::array{int64_t{2}, batch, 2 * cells}));
  TROUPE_ASSIGN(auto sums, tensor::make(dtype_of<T>, gates, at.memory()));
  TROUPE_ASSIGN(auto kept, tensor::make(dtype_of<T>, at.input(1).dims(), at.memory()));
  if (batch == 0 || cells == 0)
    return {};
  auto* from_x = sums.template data<T>();
  auto *from_h = from_x + batch * 2 * cells, *h_kept = kept.template data<T>();
  const T *x = at.input(0).data<T>(), *h_prev = at.input(1).data<T>(),
          *w_ru = at.input(2).data<T>(), *w_c = at.input(3).data<T>(),
          *b_ru = at.input(4).data<T>(), *b_c = at.input(5).data<T>();
  auto multiply = [&](int64_t columns, const T* second, const T* w) -> status {
    TROUPE_TRY(gemm(at.device(), false, false, batch, columns, inputs, x, w, from_x, at.stop()));
    return gemm(at.device(), false, false, batch, columns, cells, second, w + inputs * columns,
                from_h, at.stop());
  };
  TROUPE_TRY(multiply(2 * cells, h_prev, w_ru));
  for_cells(at, batch, cells, 5, [&](int64_t row, int64_t begin, int64_t end) {
    auto place = row * cells;
    gate(from_x + 2 * place, from_h + 2 * place, b_ru, h_prev + place, cells, r + place, u + place,
         h_kept + place, begin, end);
  });
  TROUPE_TRY(multiply(cells, h_kept, w_c));
  for_cells(at, batch, cells, 3, [&](int64_t row, int64_t begin, int64_t end) {
    auto place = row * cells;
    blend(from_x + place, from_h + place, b_c, h_prev + place, u + place, c + place, h + place,
          begin, end);
  });
  return {};
}

} // namespace

extern constexpr kernel_def gru_block_cell_cpu{
    .op = "GRUBlockCell",
    .run = {{dtype::f32, run<float>}, {dtype::f64, run<double>}},
};

} // namespace troupe::ops
