// What the kernels of LRN and its gradient share: they go row by row along the channels.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/norm/shared/lrn_state.hpp"

#include <cmath>

namespace troupe::ops {

/// Of a row of values the sums over neighbours up to `radius` away.
template <class N>
void sum_neighbours(const std::vector<N>& values, int64_t radius, std::vector<N>& sums) {
  auto count = static_cast<int64_t>(values.size());
  radius = std::min(radius, count);
  for (int64_t c = 0; c < count; ++c) {
    N sum{};
    for (auto i = std::max<int64_t>(0, c - radius); i <= std::min(count - 1, c + radius); ++i)
      sum += values[static_cast<size_t>(i)];
    sums[static_cast<size_t>(c)] = sum;
  }
}

/// The sums of squares around each element of a row, times alpha, plus bias.
template <class T, class N>
void lrn_norms(const lrn_state& state, const T* x, std::vector<N>& squares, std::vector<N>& norms) {
  for (size_t c = 0; c < squares.size(); ++c)
    squares[c] = static_cast<N>(widen(x[c])) * static_cast<N>(widen(x[c]));
  sum_neighbours(squares, state.radius, norms);
  for (auto& norm : norms)
    norm = static_cast<N>(state.bias) + static_cast<N>(state.alpha) * norm;
}

/// Calls `body(begin, end, channels)` for parts of all rows.
template <class Body>
void for_each_lrn_row(kernel_context& at, const shape& dims, const Body& body) {
  auto channels = dims[3];
  if (dims.elements() == 0)
    return;
  auto window = static_cast<double>(
      std::min(channels, 2 * std::min(channels, at.state<lrn_state>().radius) + 1));
  at.parallel_for(dims.elements() / channels, static_cast<double>(channels) * (10 + window),
                  [&](int64_t begin, int64_t end) { body(begin, end, channels); });
}

} // namespace troupe::ops
