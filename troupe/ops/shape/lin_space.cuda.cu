#include "troupe/ops/kernel/gpu/launch.cuda.hpp"
#include "troupe/ops/shape/lin_space.hpp"

namespace troupe::ops::lin_space_gpu {
namespace {

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

extern constexpr kernel_def TROUPE_GPU_KERNEL(lin_space){
    .op = "LinSpace",
    .device = device_kind::gpu,
    .run = lin_space_kernels(types::floating),
};

} // namespace troupe::ops::lin_space_gpu
