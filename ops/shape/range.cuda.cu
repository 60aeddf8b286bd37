#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"
#include "troupe/ops/shape/shared/lin_space.hpp"
#include "troupe/ops/shape/shared/range_steps.hpp"

namespace troupe::ops::range_gpu {
namespace {

template <class T>
struct range_body {
  compute_type<T> start, delta;
  T* out;
  TROUPE_DEVICE void operator()(int64_t i) const { // sums fit, but products may wrap around
    out[i] = gpu::store<T>(gpu::sum(start, gpu::product(static_cast<compute_type<T>>(i), delta)));
  }
};

template <class T>
status run_range(kernel_context& at) {
  TROUPE_ASSIGN(auto steps, plan_range<T>(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, steps.dims));
  return gpu::for_each(at, out->elements(),
                       range_body<T>{steps.start, steps.delta, out->template data<T>()});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> range_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_range<Ts>}...};
}

template <class T>
struct lin_space_body {
  linear_steps<T> steps;
  T* out;
  TROUPE_DEVICE void operator()(int64_t i) const {
    out[i] = i == steps.count - 1 ? steps.last : gpu::store<T>(steps.at(i));
  }
};

template <class T>
status run_lin_space(kernel_context& at) {
  TROUPE_ASSIGN(auto steps, plan_lin_space<T>(at));
  TROUPE_ASSIGN(auto dims, shape::make(std::span{&steps.count, 1}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  return gpu::for_each(at, steps.count, lin_space_body<T>{steps, out->template data<T>()});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> lin_space_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_lin_space<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(range){
    .op = "Range",
    .device = device_kind::gpu,
    .run = range_kernels(gpu::usual_types),
    .key = "Tidx",
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(lin_space){
    .op = "LinSpace",
    .device = device_kind::gpu,
    .run = lin_space_kernels(types::floating),
};

} // namespace troupe::ops::range_gpu
