// Kernels that change a variable in place.
#pragma once
#include "troupe/ops/state/shared/update_functions.hpp"

namespace troupe::ops {

namespace detail {

template <class Fn, class T>
inline __attribute__((always_inline)) void change_run(Fn fn, T* value, const T* change,
                                                      int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    value[i] = static_cast<T>(fn(widen(value[i]), widen(change[i])));
}

template <class Fn, class T>
TROUPE_SIMD_CLONES void change_hot(Fn fn, T* value, const T* change, int64_t count) {
  change_run(fn, value, change, count);
}

} // namespace detail

/// value[i] = fn(value[i], change[i])
template <class Fn, class T>
void change_elements(Fn fn, T* value, const T* change, int64_t count) {
  if constexpr (is_hot<T>)
    detail::change_hot(fn, value, change, count);
  else
    detail::change_run(fn, value, change, count);
}

/// variable = fn(variable, last input) for each element; requires keep_locking.
template <class T, class Fn>
status update_variable(kernel_context& at, Fn fn) {
  const auto& change = at.input(at.inputs() - 1);
  const auto& variable = at.variable(0);
  auto body = [&](tensor& value) -> status {
    TROUPE_TRY(check_change(variable, value, change));
    auto* to = value.data<T>();
    const auto* from = change.data<T>();
    // Not stopped with the step: a half-updated variable would outlive it.
    at.device().parallel_for(value.elements(), 0.4, [&](int64_t begin, int64_t end) {
      change_elements(fn, to + begin, from + begin, end - begin);
    });
    return {};
  };
  return change_variable(at, at.state<bool>(), body);
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> update_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, [](kernel_context& at) { return update_variable<Ts>(at, Fn{}); }}...};
}

} // namespace troupe::ops
