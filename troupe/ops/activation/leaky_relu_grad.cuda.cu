#include "troupe/ops/activation/shared/leaky_relu.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::leaky_relu_grad_gpu {
namespace {

struct leaky_relu_grad_fn {
  float alpha;
  template <class T>
  TROUPE_DEVICE T operator()(T gradient, T feature) const {
    return feature > T(0) ? gradient : static_cast<T>(alpha) * gradient;
  }
};

template <class T>
status run_leaky_relu_grad(kernel_context& at) {
  TROUPE_TRY(gpu::check_paired(at));
  return gpu::binary_with<T, T>(at, leaky_relu_grad_fn{at.state<float>()});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(leaky_relu_grad){
    .op = "LeakyReluGrad",
    .device = device_kind::gpu,
    .run = {{dtype::f16, run_leaky_relu_grad<float16>},
            {dtype::bf16, run_leaky_relu_grad<bfloat16>},
            {dtype::f32, run_leaky_relu_grad<float>},
            {dtype::f64, run_leaky_relu_grad<double>}},
    .prepare = prepare_leak,
};

} // namespace troupe::ops::leaky_relu_grad_gpu
