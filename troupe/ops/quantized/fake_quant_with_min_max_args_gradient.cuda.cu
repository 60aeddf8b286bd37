#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/quantized/shared/fake_quantization.hpp"

namespace troupe::ops::fake_quant_with_min_max_args_gradient_gpu {
namespace {

struct fake_quant_with_min_max_args_gradient_fn {
  nudged_range range;
  TROUPE_DEVICE float operator()(float gradient, float x) const {
    return range.contains(x) ? gradient : 0.0f;
  }
};

status run_fake_quant_with_min_max_args_gradient(kernel_context& at) {
  const auto &gradients = at.input(0).dims(), &x = at.input(1).dims();
  if (!(gradients == x))
    return invalid("gradients and inputs must have one shape, got ", gradients, " and ", x);
  return gpu::binary_with<float, float>(
      at, fake_quant_with_min_max_args_gradient_fn{at.state<nudged_range>()});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(fake_quant_with_min_max_args_gradient){
    .op = "FakeQuantWithMinMaxArgsGradient",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_fake_quant_with_min_max_args_gradient}},
    .prepare = keep_attribute_range,
};

} // namespace troupe::ops::fake_quant_with_min_max_args_gradient_gpu
