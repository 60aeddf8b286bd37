#include "troupe/ops/activation/shared/leaky_relu.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::relu_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    relu_fn,
    template <class T> TROUPE_DEVICE T operator()(T x) const { return x <= T(0) ? T(0) : x; });

TROUPE_SCALAR_FUNCTION(
    relu_grad_fn, template <class T> TROUPE_DEVICE T operator()(T gradient, T feature)
                      const { return feature > T(0) ? gradient : T(0); });

TROUPE_SCALAR_FUNCTION(
    relu6_fn, template <class T> TROUPE_DEVICE T operator()(T x) const {
      return x <= T(0) ? T(0) : x >= T(6) ? T(6) : x;
    });

TROUPE_SCALAR_FUNCTION(
    relu6_grad_fn, template <class T> TROUPE_DEVICE T operator()(T gradient, T feature)
                       const { return feature > T(0) && feature < T(6) ? gradient : T(0); });

struct leaky_relu_fn {
  float alpha;
  template <class T>
  TROUPE_DEVICE T operator()(T x) const {
    return x > T(0) ? x : static_cast<T>(alpha) * x;
  }
};

template <class T>
status run_leaky_relu(kernel_context& at) {
  return gpu::unary_with<T, T>(at, leaky_relu_fn{at.state<float>()});
}

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

extern constexpr kernel_def TROUPE_GPU_KERNEL(relu){
    .op = "Relu",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<relu_fn>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(relu_grad){
    .op = "ReluGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<relu_grad_fn>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(relu6){
    .op = "Relu6",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<relu6_fn>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(relu6_grad){
    .op = "Relu6Grad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<relu6_grad_fn>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(leaky_relu){
    .op = "LeakyRelu",
    .device = device_kind::gpu,
    .run = {{dtype::f16, run_leaky_relu<float16>},
            {dtype::bf16, run_leaky_relu<bfloat16>},
            {dtype::f32, run_leaky_relu<float>},
            {dtype::f64, run_leaky_relu<double>}},
    .prepare = prepare_leak,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(leaky_relu_grad){
    .op = "LeakyReluGrad",
    .device = device_kind::gpu,
    .run = {{dtype::f16, run_leaky_relu_grad<float16>},
            {dtype::bf16, run_leaky_relu_grad<bfloat16>},
            {dtype::f32, run_leaky_relu_grad<float>},
            {dtype::f64, run_leaky_relu_grad<double>}},
    .prepare = prepare_leak,
};

} // namespace troupe::ops::relu_gpu
