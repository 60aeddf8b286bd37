#include "troupe/ops/quantized/shared/fake_quantization.cuda.hpp"
#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::fake_quant_with_min_max_vars_gradient_gpu {
namespace {

struct pass_within_fn {
  gpu::device_range range;
  TROUPE_DEVICE float operator()(float dy, float x) const {
    return range.get().contains(x) ? dy : 0.0f;
  }
};

// What is below the range, and what is above it.
struct beyond_range {
  gpu::device_range range;
  const float *dy, *x;
  TROUPE_DEVICE double operator()(int64_t side, int64_t i) const {
    auto is = range.get();
    return (side == 0 ? x[i] < is.least : x[i] > is.most) ? double{dy[i]} : 0.0;
  }
};

struct two_scalars {
  float *below, *above;
  TROUPE_DEVICE void operator()(int64_t side, double sum) const {
    *(side == 0 ? below : above) = static_cast<float>(sum);
  }
};

status run_fake_quant_with_min_max_vars_gradient(kernel_context& at) {
  TROUPE_TRY(check_range_inputs(at, 2));
  TROUPE_TRY(check_passed(at));
  const auto *dy = at.input(0).data<float>(), *x = at.input(1).data<float>();
  auto count = at.input(1).elements();
  TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(1).dims()));
  TROUPE_ASSIGN(auto* below, at.allocate(1, {}));
  TROUPE_ASSIGN(auto* above, at.allocate(2, {}));
  gpu::device_range range{at, 2};
  TROUPE_TRY(gpu::map(at, count, pass_within_fn{range}, out->data<float>(), dy, x));
  return gpu::reduce_each<addition, double>(
      at, 2, count, false, beyond_range{range, dy, x},
      two_scalars{below->data<float>(), above->data<float>()});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(fake_quant_with_min_max_vars_gradient){
    .op = "FakeQuantWithMinMaxVarsGradient",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_fake_quant_with_min_max_vars_gradient}},
    .prepare = keep_bit_range,
};

} // namespace troupe::ops::fake_quant_with_min_max_vars_gradient_gpu
