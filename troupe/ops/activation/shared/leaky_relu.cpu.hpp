// What the kernels of LeakyRelu and of its gradient share.
#pragma once
#include "troupe/ops/activation/shared/leaky_relu.hpp"
#include "troupe/ops/kernel/element_types.hpp"

namespace troupe::ops {

/// out[i] = value[i], times alpha where the feature is not positive. All three may be the same
/// memory.
template <class T>
void leak(const T* value, const T* feature, float alpha, T* out, int64_t count) {
  const auto factor = static_cast<compute_type<T>>(alpha);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    compute_type<T> x = widen(value[i]);
    out[i] = static_cast<T>(widen(feature[i]) > 0 ? x : factor * x);
  }
}

template <class T>
status run_leak(kernel_context& at, const tensor& values, const tensor& features) {
  const T *value = values.data<T>(), *feature = features.data<T>();
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, values.dims()));
  auto* to = out->template data<T>();
  auto alpha = at.state<float>();
  at.parallel_for(values.elements(), 0.3, [&](int64_t begin, int64_t end) {
    leak(value + begin, feature + begin, alpha, to + begin, end - begin);
  });
  return {};
}

} // namespace troupe::ops
