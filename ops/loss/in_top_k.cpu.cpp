#include "troupe/ops/loss/in_top_k.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

#include <cmath>

namespace troupe::ops::in_top_k_cpu {
namespace {

bool in_top(const float* row, int64_t classes, int64_t target, int64_t k) {
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
  auto* is_in_top_k = out->template data<bool>();
  at.parallel_for(dims[0], static_cast<double>(dims[1]), [&](int64_t begin, int64_t end) {
    for (auto row = begin; row < end; ++row)
      is_in_top_k[row] = in_top(x + row * dims[1], dims[1], target[row], k);
  });
  return {};
}

template <class Target>
status run_in_top_k(kernel_context& at) {
  return mark_in_top_k<Target>(at, at.state<int64_t>());
}

template <class Target>
status run_in_top_k_v2(kernel_context& at) {
  if (at.input(2).rank() != 0)
    return invalid("k must be a scalar, got shape ", at.input(2).dims());
  return mark_in_top_k<Target>(at, *at.input(2).data<Target>());
}

} // namespace

extern constexpr kernel_def in_top_k_cpu{
    .op = "InTopK",
    .device = device_kind::cpu,
    .run = {{dtype::i32, run_in_top_k<int32_t>}, {dtype::i64, run_in_top_k<int64_t>}},
    .prepare = cache_attr<int64_t, "k">,
};

extern constexpr kernel_def in_top_k_v2_cpu{
    .op = "InTopKV2",
    .run = {{dtype::i32, run_in_top_k_v2<int32_t>}, {dtype::i64, run_in_top_k_v2<int64_t>}},
};

} // namespace troupe::ops::in_top_k_cpu
