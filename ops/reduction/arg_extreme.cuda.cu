#include "troupe/ops/reduction/shared/arg_extreme.hpp"
#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

// The best element so far and its index; the index is -1 before the first one.
template <class Value>
struct arg_total {
  Value best{};
  int64_t where = -1;
};

// Prefers the first of equal elements, and the first NaN to all others, independent of the order of
// combination.
template <class Better>
struct arg_step {
  template <class Total>
  TROUPE_DEVICE static Total start() {
    return {};
  }
  template <class Value>
  TROUPE_DEVICE static arg_total<Value> step(const arg_total<Value>& a, const arg_total<Value>& b) {
    if (a.where < 0 || b.where < 0)
      return a.where < 0 ? b : a;
    bool a_is_nan = a.best != a.best, b_is_nan = b.best != b.best;
    if (a_is_nan != b_is_nan)
      return a_is_nan ? a : b;
    if (!a_is_nan && Better{}(a.best, b.best))
      return a;
    if (!a_is_nan && Better{}(b.best, a.best))
      return b;
    return a.where < b.where ? a : b;
  }
};

template <class T>
struct arg_source {
  const T* x;
  int64_t length, inner;
  TROUPE_DEVICE arg_total<compute_type<T>> operator()(int64_t line, int64_t i) const {
    auto first = line / inner * length * inner + line % inner;
    return {load(x[first + i * inner]), i};
  }
};

struct arg_sink {
  void* to;
  bool is_wide;
  template <class Total>
  TROUPE_DEVICE void operator()(int64_t line, const Total& total) const {
    if (is_wide)
      static_cast<int64_t*>(to)[line] = total.where;
    else
      static_cast<int32_t*>(to)[line] = static_cast<int32_t>(total.where);
  }
};

template <class T, class Better>
status arg_extreme(kernel_context& at) {
  TROUPE_ASSIGN(auto lines, lines_of_arg_extreme(at));
  return reduce_each<arg_step<Better>, arg_total<compute_type<T>>>(
      at, lines.out->elements(), lines.length, lines.inner > 1,
      arg_source<T>{at.input(0).data<T>(), lines.length, lines.inner},
      arg_sink{lines.out->raw(), lines.out->type() == dtype::i64});
}

template <class Better, class... Ts>
constexpr inplace_vector<typed_kernel, 18> arg_extreme_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, arg_extreme<Ts, Better>}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

namespace troupe::ops::arg_extreme_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(arg_max){
    .op = "ArgMax",
    .device = device_kind::gpu,
    .run = gpu::arg_extreme_kernels<std::greater<>>(gpu::reduced_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(arg_min){
    .op = "ArgMin",
    .device = device_kind::gpu,
    .run = gpu::arg_extreme_kernels<std::less<>>(gpu::reduced_types),
};

} // namespace troupe::ops::arg_extreme_gpu
