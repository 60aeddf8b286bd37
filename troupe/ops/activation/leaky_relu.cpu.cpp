#include "troupe/ops/activation/shared/leaky_relu.cpu.hpp"

namespace troupe::ops::leaky_relu_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  return run_leak<T>(at, at.input(0), at.input(0));
}

} // namespace

extern constexpr kernel_def leaky_relu_cpu{
    .op = "LeakyRelu",
    .run = {{dtype::f16, run<float16>},
            {dtype::bf16, run<bfloat16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
    .prepare = prepare_leak,
};

} // namespace troupe::ops::leaky_relu_cpu
