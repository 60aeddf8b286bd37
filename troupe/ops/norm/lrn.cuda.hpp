// The sums of LRN and its gradient on GPUs.
#pragma once
#include "troupe/ops/kernel/gpu/layer.cuda.hpp"
#include "troupe/ops/norm/shared/lrn_state.hpp"

#include <math.h>

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// The neighbours of an element along the last axis.
struct lrn_row {
  int64_t channels, radius;

  lrn_row(const lrn_state& of, int64_t count)
      : channels(count), radius(std::min(of.radius, count)) {}

  /// The sum of value(j) over the neighbours j of element i.
  template <class N, class Value>
  TROUPE_DEVICE N sum(int64_t i, const Value& value) const {
    auto first = i - i % channels;
    auto begin = i - radius > first ? i - radius : first;
    auto end = i + radius + 1 < first + channels ? i + radius + 1 : first + channels;
    N total{};
    for (auto j = begin; j < end; ++j)
      total += value(j);
    return total;
  }
};

inline troupe::gpu::lrn_layer lrn_layer_of(const lrn_state& of, const tensor& input,
                                           bool backward) {
  const auto& dims = input.dims();
  return {.backward = backward,
          .type = input.type(),
          .images = dims[0],
          .rows = dims[1],
          .columns = dims[2],
          .channels = dims[3],
          .radius = of.radius,
          .bias = of.bias,
          .alpha = of.alpha,
          .beta = of.beta};
}

/// The sum of squares around an element, times alpha, plus bias.
template <class T>
struct lrn_norm {
  lrn_row of;
  compute_type<T> bias, alpha;
  const T* x;

  lrn_norm(const lrn_state& state, const tensor& input)
      : of(state, input.dims()[3]), bias(static_cast<compute_type<T>>(state.bias)),
        alpha(static_cast<compute_type<T>>(state.alpha)), x(input.data<T>()) {}

  TROUPE_DEVICE compute_type<T> at(int64_t i) const {
    using number = compute_type<T>;
    return bias + alpha * of.template sum<number>(i, [&](int64_t j) {
      auto value = load(x[j]);
      return value * value;
    });
  }
};

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
