// Kernels that compute each element of the output from one element of each input.
//
// A functor provides the arithmetic: `operator()` for one element (halves arrive as float), or, for
// unary functors, `run(from, to, count)` for many, with `from == to` when memory is reused.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/kernel/strided_iterator.hpp"

namespace troupe::ops {

/// Estimated costs of a loop in nanoseconds per element, for parallel_for. An expensive functor
/// declares its cost: `static constexpr double cost = costly`. A functor that calls a function per
/// element is not vectorized, so that several versions of its loops would be the same.
inline constexpr double cheap = 0.3, costly = 3, called = 12;

template <class Fn>
constexpr double cost_of() {
  if constexpr (requires { Fn::cost; })
    return Fn::cost;
  else
    return cheap;
}

namespace detail {

/// Whether several versions of a loop are worthwhile.
template <class Fn, class T>
inline constexpr bool has_clones = is_hot<T>&& cost_of<Fn>() < called;

// Each element is read before it is overwritten, even if buffers coincide: hence ivdep.
template <class Fn, class T, class R>
inline __attribute__((always_inline)) void binary_run(const T* a, int64_t step_a, const T* b,
                                                      int64_t step_b, R* out, int64_t count) {
  Fn fn;
  if (step_a == 1 && step_b == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<R>(fn(widen(a[i]), widen(b[i])));
  } else if (step_a == 1 && step_b == 0) {
    const auto right = static_cast<compute_type<T>>(*b);
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<R>(fn(widen(a[i]), right));
  } else if (step_a == 0 && step_b == 1) {
    const auto a_value = static_cast<compute_type<T>>(*a);
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<R>(fn(a_value, widen(b[i])));
  } else {
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<R>(fn(widen(a[i * step_a]), widen(b[i * step_b])));
  }
}

template <class Fn, class T, class R>
TROUPE_SIMD_CLONES void binary_hot(const T* a, int64_t step_a, const T* b, int64_t step_b, R* out,
                                   int64_t count) {
  binary_run<Fn>(a, step_a, b, step_b, out, count);
}

template <class Fn, class T, class R>
void binary_any(const T* a, int64_t step_a, const T* b, int64_t step_b, R* out, int64_t count) {
  if constexpr (has_clones<Fn, T>)
    binary_hot<Fn>(a, step_a, b, step_b, out, count);
  else
    binary_run<Fn>(a, step_a, b, step_b, out, count);
}

template <class Fn, class T, class R>
inline __attribute__((always_inline)) void unary_run(const T* from, R* to, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<R>(Fn{}(widen(from[i])));
}

template <class Fn, class T, class R>
TROUPE_SIMD_CLONES void unary_hot(const T* from, R* to, int64_t count) {
  unary_run<Fn>(from, to, count);
}

template <class Fn, class T, class R>
void unary_any(const T* from, R* to, int64_t count) {
  if constexpr (requires { Fn::run(from, to, count); }) { // run() takes exactly this type
    Fn::run(from, to, count);
  } else if constexpr (is_half<T> && std::is_same_v<T, R>) {
    // In blocks converted to float, so that halves need no loops of their own.
    float block[256];
    for (int64_t i = 0; i < count; i += 256) {
      auto length = std::min<int64_t>(256, count - i);
      std::transform(from + i, from + i + length, block, [](T x) { return static_cast<float>(x); });
      unary_any<Fn>(static_cast<const float*>(block), block, length);
      std::transform(block, block + length, to + i, [](float x) { return static_cast<T>(x); });
    }
  } else if constexpr (has_clones<Fn, T>) {
    unary_hot<Fn>(from, to, count);
  } else {
    unary_run<Fn>(from, to, count);
  }
}

} // namespace detail

/// out = fn(a, b) with broadcasting; out has elements of type R.
template <class T, class Fn, class R = T>
status binary(kernel_context& at) {
  const auto &a = at.input(0), &b = at.input(1);
  const auto *from_a = a.data<T>(), *from_b = b.data<T>();
  auto compute = [&](const shape& dims, auto&& fill) -> status {
    TROUPE_ASSIGN(auto* out, std::is_same_v<T, R> ? at.forward_or_allocate(0, {0, 1}, dims)
                                                  : at.allocate(0, dims));
    auto* to = out->template data<R>();
    at.parallel_for(out->elements(), cost_of<Fn>(),
                    [&](int64_t begin, int64_t end) { fill(to, begin, end); });
    return {};
  };
  if (a.dims() == b.dims())
    return compute(a.dims(), [&](R* to, int64_t begin, int64_t end) {
      detail::binary_any<Fn>(from_a + begin, 1, from_b + begin, 1, to + begin, end - begin);
    });
  TROUPE_ASSIGN(auto dims, broadcast(a.dims(), b.dims()));
  auto plan = strided_iterator::broadcast(dims, a.dims(), b.dims());
  return compute(dims, [&](R* to, int64_t begin, int64_t end) {
    plan.runs(begin, end, [&](int64_t i, const strided_iterator::offsets& where, int64_t count) {
      detail::binary_any<Fn>(from_a + where[0], plan.step(0), from_b + where[1], plan.step(1),
                             to + i, count);
    });
  });
}

/// For two inputs that are not broadcast, such as an output and its gradient.
inline status check_paired(const kernel_context& at) {
  const auto &a = at.input(0).dims(), &b = at.input(1).dims();
  return a == b ? status{} : invalid("both inputs must have one shape, got ", a, " and ", b);
}

/// out = fn(a, b) where the shapes of both are equal.
template <class T, class Fn>
status paired(kernel_context& at) {
  TROUPE_TRY(check_paired(at));
  return binary<T, Fn>(at);
}

/// out = fn(x).
template <class T, class Fn, class R = T>
status unary(kernel_context& at) {
  const auto& x = at.input(0);
  const auto* from = x.data<T>();
  TROUPE_ASSIGN(auto* out, std::is_same_v<T, R> ? at.forward_or_allocate(0, {0}, x.dims())
                                                : at.allocate(0, x.dims()));
  auto* to = out->template data<R>();
  at.parallel_for(x.elements(), cost_of<Fn>(), [&](int64_t begin, int64_t end) {
    detail::unary_any<Fn>(from + begin, to + begin, end - begin);
  });
  return {};
}

/// The arithmetic alone, for loops fused from several ops; strings have none.
template <class T, class Fn, class R = T>
void binary_loop(const void* const* inputs, const int64_t* steps, void* output, int64_t count) {
  detail::binary_any<Fn>(static_cast<const T*>(inputs[0]), steps[0],
                         static_cast<const T*>(inputs[1]), steps[1], static_cast<R*>(output),
                         count);
}

template <class T, class Fn, class R = T>
void unary_loop(const void* const* inputs, const int64_t*, void* output, int64_t count) {
  detail::unary_any<Fn>(static_cast<const T*>(inputs[0]), static_cast<R*>(output), count);
}

template <class T, class Fn, class R = T>
constexpr typed_kernel binary_kernel(kernel_fn run = binary<T, Fn, R>) {
  if constexpr (std::is_same_v<T, std::string>)
    return {dtype_of<T>, run};
  else
    return {dtype_of<T>, run, binary_loop<T, Fn, R>, cost_of<Fn>()};
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> binary_kernels(type_list<Ts...>) {
  return {binary_kernel<Ts, Fn>()...};
}

/// The output is a truth value.
template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> comparison_kernels(type_list<Ts...>) {
  return {binary_kernel<Ts, Fn, bool>()...};
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> paired_kernels(type_list<Ts...>) {
  return {binary_kernel<Ts, Fn>(paired<Ts, Fn>)...};
}

/// The output has elements of type R.
template <class R, class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> unary_kernels_to(type_list<Ts...>) {
  return {{dtype_of<Ts>, unary<Ts, Fn, R>, unary_loop<Ts, Fn, R>, cost_of<Fn>()}...};
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> unary_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, unary<Ts, Fn>, unary_loop<Ts, Fn>, cost_of<Fn>()}...};
}

} // namespace troupe::ops
