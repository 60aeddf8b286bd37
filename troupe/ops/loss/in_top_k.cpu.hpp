// The kernels of InTopK and InTopKV2.
#pragma once
#include "troupe/ops/loss/in_top_k.hpp"

#include <cmath>

namespace troupe::ops {

inline bool in_top(const float* row, int64_t classes, int64_t target, int64_t k) {
  if (target < 0 || target >= classes || !std::isfinite(row[target]))
    return false;
  int64_t greater = 0;
  for (int64_t c = 0; c < classes && greater < k; ++c) {
    if (!std::isfinite(row[c]))
      return false;
    greater += row[c] > row[target];
  }
  return greater < k;
}

template <class Target>
status mark_in_top_k(kernel_context& at, int64_t k) {
  const auto &predictions = at.input(0), &targets = at.input(1);
  const auto& dims = predictions.dims();
  TROUPE_TRY(check_targets(predictions, targets));
  TROUPE_ASSIGN(auto* out, at.allocate(0, targets.dims()));
  const auto* x = predictions.data<float>();
  const auto* target = targets.data<Target>();
  auto* found = out->template data<bool>();
  at.parallel_for(dims[0], static_cast<double>(dims[1]), [&](int64_t begin, int64_t end) {
    for (auto row = begin; row < end; ++row)
      found[row] = in_top(x + row * dims[1], dims[1], target[row], k);
  });
  return {};
}

} // namespace troupe::ops
