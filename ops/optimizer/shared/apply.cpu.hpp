// Kernels that apply a gradient to a variable and its slots, in one pass over their memory.
#pragma once
#include "troupe/ops/kernel/copy_if_overlapping.hpp"
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/kernel/rows.hpp"
#include "troupe/ops/optimizer/shared/rules.hpp"
#include "troupe/ops/optimizer/shared/training.hpp"

#include <utility>

namespace troupe::ops {

namespace detail {

// The variables are distinct, and a gradient that overlaps one of them is read before it is
// overwritten: hence ivdep.
template <class T, class Rule, class... Variables>
inline __attribute__((always_inline)) void apply_run(const Rule rule, const T* gradient,
                                                     int64_t count, Variables*... variables) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i)
    [&](auto... values) __attribute__((always_inline)) {
      rule(values..., compute_type<T>{widen(gradient[i])});
      ((variables[i] = static_cast<T>(values)), ...);
    }
  (compute_type<T>{widen(variables[i])}...);
}

template <class T, class Rule, class... Variables>
TROUPE_SIMD_CLONES void apply_hot(const Rule& rule, const T* gradient, int64_t count,
                                  Variables*... variables) {
  apply_run<T>(rule, gradient, count, variables...);
}

} // namespace detail

template <class T, class Rule>
status apply(kernel_context& at) {
  const auto& state = at.state<training_state>();
  TROUPE_ASSIGN(auto parameters, training_scalars(at));
  Rule rule{scalars<compute_type<T>>{parameters, state.variant}};
  if constexpr (requires { rule.check(); })
    TROUPE_TRY(rule.check());
  auto body = [&](std::span<tensor* const> values) -> status {
    TROUPE_TRY(check_training(at, values));
    const auto& gradient = at.input(state.roles.gradient);
    const auto* from = gradient.template data<T>();
    auto part = [&](int64_t first, int64_t to, int64_t count) {
      [&]<size_t... I>(std::index_sequence<I...>) {
        if constexpr (is_hot<T>)
          detail::apply_hot<T>(rule, from + first, count, values[I]->template data<T>() + to...);
        else
          detail::apply_run<T>(rule, from + first, count, values[I]->template data<T>() + to...);
      }
      (std::make_index_sequence<Rule::variables>{});
    };
    constexpr double cost = 0.5 * (Rule::variables + 1);
    if (state.roles.indices < 0) {
      at.device().parallel_for(gradient.elements(), cost, [&](int64_t begin, int64_t end) {
        part(begin, begin, end - begin);
      });
      return {};
    }
    const auto& indices = at.input(state.roles.indices);
    TROUPE_ASSIGN(auto rows, rows_to_update(indices, *values[0], gradient, 1));
    tensor apart = gradient;
    for (const auto* value : values) {
      TROUPE_ASSIGN(apart, copy_if_overlapping(at, apart, *value));
    }
    from = std::as_const(apart).template data<T>();
    auto length = gradient.elements() / std::max<int64_t>(indices.elements(), 1);
    for_rows(at.device(), rows, 5 + cost * static_cast<double>(length),
             [&](int64_t i, int64_t row) { part(i * length, row * length, length); });
    return {};
  };
  return update_variables(at, Rule::variables, state.use_locking, std::ref(body));
}

template <template <class> class Rule>
constexpr inplace_vector<typed_kernel, 18> apply_kernels() {
  return {{dtype::f16, apply<float16, Rule<float>>},
          {dtype::bf16, apply<bfloat16, Rule<float>>},
          {dtype::f32, apply<float, Rule<float>>},
          {dtype::f64, apply<double, Rule<double>>}};
}

} // namespace troupe::ops
