#include "troupe/ops/quantized/shared/fake_quantization.cuda.hpp"

namespace troupe::ops::fake_quant_with_min_max_vars_gpu {
namespace {

struct fake_quant_with_min_max_vars_fn {
  gpu::device_range range;
  TROUPE_DEVICE float operator()(float x) const {
    auto is = range.get();
    return is.step > 0 ? is.rounded(x) : 0.0f;
  }
};

status run_fake_quant_with_min_max_vars(kernel_context& at) {
  TROUPE_TRY(check_range_inputs(at, 1));
  return gpu::unary_with<float, float>(at, fake_quant_with_min_max_vars_fn{{at, 1}});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(fake_quant_with_min_max_vars){
    .op = "FakeQuantWithMinMaxVars",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_fake_quant_with_min_max_vars}},
    .prepare = keep_bit_range,
};

} // namespace troupe::ops::fake_quant_with_min_max_vars_gpu
