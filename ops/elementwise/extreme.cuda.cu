#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::extreme_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    maximum_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::larger(b, a); });

TROUPE_SCALAR_FUNCTION(
    minimum_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::smaller(b, a); });

template <class T>
TROUPE_DEVICE T clip(T x, T low, T high) {
  auto below = high < x ? high : x;
  return below < low ? low : below;
}

// Bounds per element, or one bound for all elements.
template <class T>
struct clip_by_value_body {
  const T *x, *low, *high;
  int low_step, high_step;
  T* out;
  TROUPE_DEVICE void operator()(int64_t i) const {
    out[i] = gpu::store<T>(
        clip(gpu::load(x[i]), gpu::load(low[i * low_step]), gpu::load(high[i * high_step])));
  }
};

template <class T>
struct clip_by_value_fn {
  const T *low, *high;
  TROUPE_DEVICE compute_type<T> operator()(compute_type<T> x) const {
    return clip(x, gpu::load(*low), gpu::load(*high));
  }
};

template <class T>
status run_clip_by_value(kernel_context& at) {
  const auto& t = at.input(0);
  for (int i : {1, 2})
    if (const auto& bound = at.input(i); bound.rank() != 0 && !(bound.dims() == t.dims()))
      return invalid("bounds must be scalars or have the shape of t, got ", bound.dims(), " and ",
                     t.dims());
  const T *x = t.data<T>(), *low = at.input(1).data<T>(), *high = at.input(2).data<T>();
  int low_step = at.input(1).rank() > 0, high_step = at.input(2).rank() > 0;
  auto count = t.elements();
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, t.dims()));
  auto* to = out->template data<T>();
  if (low_step + high_step == 0)
    return gpu::map(at, count, clip_by_value_fn<T>{low, high}, to, x);
  return gpu::for_each(at, count, clip_by_value_body<T>{x, low, high, low_step, high_step, to});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> clip_by_value_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_clip_by_value<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(maximum){
    .op = "Maximum",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<maximum_fn>(types::real_numbers),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(minimum){
    .op = "Minimum",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<minimum_fn>(types::real_numbers),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(clip_by_value){
    .op = "ClipByValue",
    .device = device_kind::gpu,
    .run = clip_by_value_kernels(gpu::usual_types),
};

} // namespace troupe::ops::extreme_gpu
