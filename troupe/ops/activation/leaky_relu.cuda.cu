#include "troupe/ops/activation/shared/leaky_relu.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::leaky_relu_gpu {
namespace {

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

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(leaky_relu){
    .op = "LeakyRelu",
    .device = device_kind::gpu,
    .run = {{dtype::f16, run_leaky_relu<float16>},
            {dtype::bf16, run_leaky_relu<bfloat16>},
            {dtype::f32, run_leaky_relu<float>},
            {dtype::f64, run_leaky_relu<double>}},
    .prepare = prepare_leak,
};

} // namespace troupe::ops::leaky_relu_gpu
