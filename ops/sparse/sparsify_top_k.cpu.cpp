#include "troupe/ops/sparse/shared/sparsify_top_k.hpp"
#include "troupe/ops/state/shared/update.cpu.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace troupe::ops::sparsify_top_k_cpu {
namespace {

// The magnitude in a type that can order NaN, too.
template <class C>
C magnitude(C value) {
  return std::isnan(value) ? std::numeric_limits<C>::infinity() : std::abs(value);
}

// The k-th greatest magnitude, and the number of greater magnitudes.
template <class T, class C>
std::pair<C, int64_t> rank(const T* values, int64_t count, int64_t k, C* scratch) {
  for (int64_t i = 0; i < count; ++i)
    scratch[i] = magnitude(C{widen(values[i])});
  std::nth_element(scratch, scratch + k - 1, scratch + count, std::greater<C>{});
  auto threshold = scratch[k - 1];
  auto greater = std::count_if(scratch, scratch + k, [&](C value) { return value > threshold; });
  return {threshold, greater};
}

template <class T>
status sparsify(kernel_context& at) {
  using C = compute_type<T>;
  const auto& gradient = at.input(1);
  const auto& variable = at.variable(0);
  TROUPE_ASSIGN(auto k, sent_count(at));
  auto count = gradient.elements();
  // All memory is allocated first, so that the residual changes completely or not at all.
  TROUPE_ASSIGN(auto* values, at.allocate(0, shape{k}));
  TROUPE_ASSIGN(auto* positions, at.allocate(1, shape{k}));
  TROUPE_ASSIGN(auto scratch, tensor::make(dtype_of<C>, shape{count}, at.memory()));
  auto body = [&](tensor& residual) -> status {
    TROUPE_TRY(check_change(variable, residual, gradient));
    auto* residuals = residual.data<T>();
    const auto* added = gradient.template data<T>();
    // Not stopped with the step: a half-changed residual would outlive it.
    at.device().parallel_for(count, 0.4, [&](int64_t begin, int64_t end) {
      change_elements(adding{}, residuals + begin, added + begin, end - begin);
    });
    if (k == 0)
      return {};
    auto [least, greater] = rank(residuals, count, k, scratch.template data<C>());
    auto ties = k - greater;
    auto* value = values->template data<T>();
    auto* position = positions->template data<int32_t>();
    for (int64_t i = 0; i < count && k > 0; ++i) {
      auto size = magnitude(C{widen(residuals[i])});
      if (size < least || (size == least && ties-- <= 0))
        continue;
      *value++ = std::exchange(residuals[i], T{});
      *position++ = static_cast<int32_t>(i);
      --k;
    }
    return {};
  };
  return change_variable(at, true, body);
}

template <class T>
status densify(kernel_context& at) {
  const auto &values = at.input(0), &positions = at.input(1);
  if (values.rank() != 1 || positions.dims() != values.dims())
    return invalid("there must be a vector of values and one of their positions, got shapes ",
                   values.dims(), " and ", positions.dims());
  TROUPE_ASSIGN(auto dims, shape::make(at.input(2).template values<int64_t>()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto* to = out->template data<T>();
  std::memset(out->raw(), 0, out->bytes());
  const auto* value = values.template data<T>();
  const auto* position = positions.template data<int32_t>();
  for (int64_t i = 0; i < values.elements(); ++i) {
    if (position[i] < 0 || position[i] >= dims.elements())
      return invalid("position ", position[i], " is not among the ", dims.elements(),
                     " elements of ", dims);
    to[position[i]] = static_cast<T>(widen(to[position[i]]) + widen(value[i]));
  }
  return {};
}

} // namespace

extern constexpr kernel_def sparsify_top_k_cpu{
    .op = "SparsifyTopK",
    .run = {{dtype::f16, sparsify<float16>},
            {dtype::bf16, sparsify<bfloat16>},
            {dtype::f32, sparsify<float>},
            {dtype::f64, sparsify<double>}},
};

extern constexpr kernel_def densify_top_k_cpu{
    .op = "DensifyTopK",
    .run = {{dtype::f16, densify<float16>},
            {dtype::bf16, densify<bfloat16>},
            {dtype::f32, densify<float>},
            {dtype::f64, densify<double>}},
};

} // namespace troupe::ops::sparsify_top_k_cpu
