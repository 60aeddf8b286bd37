// What the kernels of QuantizedRelu and its kin share.
#pragma once
#include "troupe/ops/quantized/shared/quantized_range.hpp"

#include <algorithm>
#include <optional>

namespace troupe::ops {

/// Brings input 0 between the whole numbers for 0 and, where there is one, for a limit. Its range,
/// which stays, begins at input `range_at`.
template <class T>
status rectify(kernel_context& at, int first_range, std::optional<float> limit) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto range, range_at(at, first_range, x.type()));
  auto low = static_cast<T>(range.nearest(0));
  auto high = static_cast<T>(limit ? range.nearest(*limit) : range.highest);
  const auto* from = x.data<T>();
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, x.dims()));
  auto* to = out->template data<T>();
  at.parallel_for(x.elements(), 0.1, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      to[i] = std::min(std::max(from[i], low), high);
  });
  at.set_output(1, at.input(first_range));
  at.set_output(2, at.input(first_range + 1));
  return {};
}

} // namespace troupe::ops
