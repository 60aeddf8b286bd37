// GPU kernels that compute each element from the elements at the same position, with broadcasting.
//
// A lane is a functor. TROUPE_SCALAR_FUNCTION(name, members) also keeps its source text, so that
// chains of ops can be compiled into one kernel when a graph is known.
#pragma once
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"
#include "troupe/ops/kernel/gpu/strided_index.cuda.hpp"

#include <math.h> // lanes name its functions as the run-time compiler does

#include "troupe/ops/kernel/gpu/scalar_functions.cuda.hpp"

#define TROUPE_SCALAR_FUNCTION(name, ...)                                                          \
  struct name {                                                                                    \
    static constexpr const char* code = "struct " #name " { " #__VA_ARGS__ " };";                  \
    __VA_ARGS__                                                                                    \
  }

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// For functors where other types are rare.
inline constexpr auto usual_types = types::floating + type_list<int32_t, int64_t>{};

template <class Fn, class T, class R>
struct broadcast_body {
  strided_index where_to;
  const T *a, *b;
  R* out;
  Fn fn;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto where = where_to.at(i);
    out[i] = store<R>(static_cast<compute_type<R>>(fn(load(a[where.of[0]]), load(b[where.of[1]]))));
  }
};

template <class T, int Count>
struct alignas(sizeof(T) * Count) pack {
  T items[Count];
};

// Threads read and write 16 bytes at a time; the first threads also take the remaining elements.
template <int Count, class Fn, class R, class... Ts>
__global__ void map_packs(int64_t packs, int64_t count, Fn fn, R* out, const Ts*... in) {
  auto thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  auto threads = int64_t{blockDim.x} * gridDim.x;
  auto one_element = [&](const Ts&... x) {
    return store<R>(static_cast<compute_type<R>>(fn(load(x)...)));
  };
  for (auto i = thread; i < packs; i += threads) {
    pack<R, Count> packed;
    [&](const pack<Ts, Count>&... x) {
      for (int k = 0; k < Count; ++k)
        packed.items[k] = one_element(x.items[k]...);
    }(reinterpret_cast<const pack<Ts, Count>*>(in)[i]...);
    reinterpret_cast<pack<R, Count>*>(out)[i] = packed;
  }
  for (auto i = packs * Count + thread; i < count; i += threads)
    out[i] = one_element(in[i]...);
}

/// out[i] = fn(in[i]...) for tensors of one shape that start at their allocation.
template <class Fn, class R, class... Ts>
status map(kernel_context& at, int64_t count, Fn fn, R* out, const Ts*... in) {
  if (count == 0)
    return {};
  constexpr auto widest = std::max({sizeof(R), sizeof(Ts)...});
  constexpr int per_pack = static_cast<int>(16 / widest);
  // The memory of a view may start at any offset.
  auto aligned = [](const void* data) { return reinterpret_cast<uintptr_t>(data) % 16 == 0; };
  auto packs = (aligned(out) && ... && aligned(in)) ? count / per_pack : 0;
  auto threads = std::max<int64_t>(packs, count - packs * per_pack);
  return launch<false>(at, map_packs<per_pack, Fn, R, Ts...>, blocks_for(threads), packs, count, fn,
                       out, in...);
}

/// out = fn(x), for a functor that has members.
template <class T, class R, class Fn>
status unary_with(kernel_context& at, Fn fn) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto* out, std::is_same_v<T, R> ? at.forward_or_allocate(0, {0}, x.dims())
                                                : at.allocate(0, x.dims()));
  return map(at, x.elements(), fn, out->template data<R>(), x.data<T>());
}

/// out = fn(x).
template <class T, class Fn, class R = T>
status unary(kernel_context& at) {
  return unary_with<T, R>(at, Fn{});
}

/// out = fn(a, b) with broadcasting, for a functor that has members.
template <class T, class R, class Fn>
status binary_with(kernel_context& at, Fn fn) {
  const auto &a = at.input(0), &b = at.input(1);
  TROUPE_ASSIGN(auto dims, broadcast(a.dims(), b.dims()));
  // An input that is also read at other positions cannot be overwritten.
  auto alike = a.dims() == b.dims();
  TROUPE_ASSIGN(auto* out, std::is_same_v<T, R>&& alike ? at.forward_or_allocate(0, {0, 1}, dims)
                                                        : at.allocate(0, dims));
  auto* to = out->template data<R>();
  if (alike)
    return map(at, dims.elements(), fn, to, a.data<T>(), b.data<T>());
  return for_each(
      at, dims.elements(),
      broadcast_body<Fn, T, R>{strided_index{strided_iterator::broadcast(dims, a.dims(), b.dims())},
                               a.data<T>(), b.data<T>(), to, fn});
}

/// out = fn(a, b) with broadcasting.
template <class T, class Fn, class R = T>
status binary(kernel_context& at) {
  return binary_with<T, R>(at, Fn{});
}

inline status check_paired(const kernel_context& at) {
  const auto &a = at.input(0).dims(), &b = at.input(1).dims();
  return a == b ? status{} : invalid("both inputs must have one shape, got ", a, " and ", b);
}

/// The same where the shapes of both must be equal.
template <class T, class Fn>
status paired(kernel_context& at) {
  TROUPE_TRY(check_paired(at));
  return binary<T, Fn>(at);
}

template <class Fn>
constexpr const char* code_of() {
  if constexpr (requires { Fn::code; })
    return Fn::code;
  else
    return nullptr;
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> unary_kernels(type_list<Ts...>) {
  return {{.type = dtype_of<Ts>, .run = unary<Ts, Fn>, .code = code_of<Fn>()}...};
}
template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> binary_kernels(type_list<Ts...>) {
  return {{.type = dtype_of<Ts>, .run = binary<Ts, Fn>, .code = code_of<Fn>()}...};
}
template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> paired_kernels(type_list<Ts...>) {
  return {{.type = dtype_of<Ts>, .run = paired<Ts, Fn>, .code = code_of<Fn>()}...};
}
/// Truth values of elements.
template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> test_kernels(type_list<Ts...>) {
  return {{.type = dtype_of<Ts>, .run = unary<Ts, Fn, bool>, .code = code_of<Fn>()}...};
}
template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> comparison_kernels(type_list<Ts...>) {
  return {{.type = dtype_of<Ts>, .run = binary<Ts, Fn, bool>, .code = code_of<Fn>()}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
