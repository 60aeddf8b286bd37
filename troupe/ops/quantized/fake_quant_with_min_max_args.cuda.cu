#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/quantized/shared/fake_quantization.hpp"

namespace troupe::ops::fake_quant_with_min_max_args_gpu {
namespace {

struct fake_quant_with_min_max_args_fn {
  nudged_range range;
  TROUPE_DEVICE float operator()(float x) const { return range.rounded(x); }
};

status run_fake_quant_with_min_max_args(kernel_context& at) {
  return gpu::unary_with<float, float>(at,
                                       fake_quant_with_min_max_args_fn{at.state<nudged_range>()});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(fake_quant_with_min_max_args){
    .op = "FakeQuantWithMinMaxArgs",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_fake_quant_with_min_max_args}},
    .prepare = keep_attribute_range,
};

} // namespace troupe::ops::fake_quant_with_min_max_args_gpu
