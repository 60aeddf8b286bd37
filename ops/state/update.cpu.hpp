// Kernels that change a variable in place.
#pragma once
#include "troupe/ops/element_types.hpp"
#include "troupe/runtime/graph.hpp"

namespace troupe::ops {

/// Keeps the attribute use_locking for the kernel.
inline result<std::shared_ptr<void>> keep_locking(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<bool>(setup.of.attr<bool>("use_locking"))};
}

namespace detail {

template <class Fn, class T>
inline __attribute__((always_inline)) void change_run(T* value, const T* change, int64_t count,
                                                      compute_type<T> factor) {
  for (int64_t i = 0; i < count; ++i)
    value[i] =
        wrapping([&](auto v, auto c) { return static_cast<T>(Fn{}(widen(v), widen(c), factor)); },
                 value[i], change[i]);
}

template <class Fn, class T>
TROUPE_SIMD_CLONES void change_hot(T* value, const T* change, int64_t count, T factor) {
  change_run<Fn>(value, change, count, factor);
}

} // namespace detail

/// variable = fn(variable, last input, factor) for each element; requires keep_locking.
template <class T, class Fn>
status update_variable(kernel_context& at, compute_type<T> factor) {
  const auto& change = at.input(at.inputs() - 1);
  auto& variable = at.variable(0);
  auto body = [&](tensor& value) -> status {
    if (!(value.dims() == change.dims()))
      return invalid("variable '", variable.name(), "' has a value of shape ", value.dims(),
                     ", the change has shape ", change.dims());
    auto* to = value.data<T>();
    const auto* from = change.data<T>();
    // Not the step's: a variable that is half updated would outlive it.
    at.device().parallel_for(value.elements(), 0.4, [&](int64_t begin, int64_t end) {
      if constexpr (is_hot<T>)
        detail::change_hot<Fn>(to + begin, from + begin, end - begin, factor);
      else
        detail::change_run<Fn>(to + begin, from + begin, end - begin, factor);
    });
    return {};
  };
  auto& copies = at.device().memory(); // outlive the step
  return at.state<bool>() ? variable.update(body, copies) : variable.update_unlocked(body, copies);
}

} // namespace troupe::ops
