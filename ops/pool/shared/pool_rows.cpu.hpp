// Rows of channels, which poolings compute one by one.
#pragma once
#include "troupe/ops/conv/shared/window_walk.hpp"
#include "troupe/ops/pool/shared/pooling.cpu.hpp"

namespace troupe::ops {

/// Calls `fill(i, row)` for rows of output 0; a row starts as zeros in the computation type.
template <class T, class Fill>
void fill_rows(kernel_context& at, T* out, int64_t rows, int64_t columns, double cost, Fill fill) {
  at.parallel_for(rows, cost, [&](int64_t begin, int64_t end) {
    std::vector<compute_type<T>> staged(is_half<T> ? static_cast<size_t>(columns) : 0);
    for (auto i = begin; i < end; ++i) {
      auto* to = out + i * columns;
      if constexpr (is_half<T>) {
        std::ranges::fill(staged, 0.f);
        fill(i, staged.data());
        std::ranges::transform(staged, to, [](float value) { return T{value}; });
      } else {
        std::fill_n(to, columns, T{});
        fill(i, to);
      }
    }
  });
}

} // namespace troupe::ops
