#include "troupe/ops/activation/shared/leaky_relu.cpu.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::leaky_relu_grad_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  TROUPE_TRY(check_paired(at));
  return run_leak<T>(at, at.input(0), at.input(1));
}

} // namespace

extern constexpr kernel_def leaky_relu_grad_cpu{
    .op = "LeakyReluGrad",
    .run = {{dtype::f16, run<float16>},
            {dtype::bf16, run<bfloat16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
    .prepare = prepare_leak,
};

} // namespace troupe::ops::leaky_relu_grad_cpu
