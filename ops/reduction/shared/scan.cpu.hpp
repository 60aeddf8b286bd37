// Kernels that accumulate along one axis. A functor gives `start<T>()` and `step(a, b)`.
#pragma once
#include "troupe/ops/kernel/scan_options.hpp"
#include "troupe/ops/reduction/shared/reduce.cpu.hpp"

namespace troupe::ops {

namespace detail {

// Scans up to tile_columns adjacent columns.
template <class Fn, class T>
void scan_columns(kernel_context& at, const T* x, T* y, const shape& part, int64_t stride) {
  auto [exclusive, reverse] = at.state<scan_options>();
  auto length = part[0], columns = part[1];
  total_t<T> running[tile_columns];
  std::fill_n(running, columns, Fn::template start<total_t<T>>());
  for (int64_t i = 0; i < length; ++i) {
    if (i % 4096 == 4095 && at.stopped())
      return;
    auto row = (reverse ? length - 1 - i : i) * stride;
#pragma GCC ivdep
    for (int64_t k = 0; k < columns; ++k) {
      auto previous = running[k];
      running[k] = Fn::step(previous, element<Fn, total_t<T>>(x[row + k]));
      y[row + k] = static_cast<T>(exclusive ? previous : running[k]);
    }
  }
}

} // namespace detail

/// Accumulates input 0 along the axis in input 1; the state is scan_options.
template <class T, class Fn>
status scan(kernel_context& at) {
  const auto& x = at.input(0);
  const auto& dims = x.dims();
  TROUPE_ASSIGN(auto axis, scanned_axis(at));
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, dims));
  if (x.elements() == 0)
    return {};
  auto length = dims[axis], inner = product(dims, axis + 1, dims.rank());
  auto tiles = (inner + detail::tile_columns - 1) / detail::tile_columns;
  auto cost = 0.7 * static_cast<double>(length) *
              static_cast<double>(std::min(inner, detail::tile_columns));
  const auto* from = x.data<T>();
  auto* to = out->template data<T>();
  at.parallel_for(product(dims, 0, axis) * tiles, cost, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      auto column = i % tiles * detail::tile_columns, first = i / tiles * length * inner + column;
      detail::scan_columns<Fn>(at, from + first, to + first,
                               {length, std::min(detail::tile_columns, inner - column)}, inner);
    }
  });
  return {};
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> scan_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, scan<Ts, Fn>}...};
}

} // namespace troupe::ops
