#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/quantized/shared/fake_quantization.hpp"
#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

// The range given by two inputs.
struct device_range {
  const float *least, *most;
  bit_range whole;
  device_errors wrong;

  device_range(kernel_context& at, int input)
      : least(at.input(input).data<float>()), most(at.input(input + 1).data<float>()),
        whole(at.state<bit_range>()),
        wrong(at, "min must be at most 0, max at least 0, and not both 0") {}

  TROUPE_DEVICE bool is_empty() const { return *least == 0 && *most == 0; }
  // The whole real line where the range is empty.
  TROUPE_DEVICE nudged_range get() const {
    if (nudged_range::nudges(*least, *most))
      return nudged_range::nudged(*least, *most, whole);
    constexpr auto infinity = std::numeric_limits<float>::infinity();
    if (!is_empty())
      wrong.add();
    return {-infinity, infinity, 0};
  }
};

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

namespace troupe::ops::fake_quant_gpu {
namespace {

struct fake_quant_with_min_max_args_fn {
  nudged_range range;
  TROUPE_DEVICE float operator()(float x) const { return range.rounded(x); }
};

status run_fake_quant_with_min_max_args(kernel_context& at) {
  return gpu::unary_with<float, float>(at,
                                       fake_quant_with_min_max_args_fn{at.state<nudged_range>()});
}

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

struct fake_quant_with_min_max_vars_fn {
  gpu::device_range range;
  TROUPE_DEVICE float operator()(float x) const {
    auto nudged = range.get();
    return nudged.step > 0 ? nudged.rounded(x) : 0.0f;
  }
};

status run_fake_quant_with_min_max_vars(kernel_context& at) {
  TROUPE_TRY(check_range_inputs(at, 1));
  return gpu::unary_with<float, float>(at, fake_quant_with_min_max_vars_fn{{at, 1}});
}

struct pass_within_fn {
  gpu::device_range range;
  TROUPE_DEVICE float operator()(float dy, float x) const {
    return range.get().contains(x) ? dy : 0.0f;
  }
};

// Sums the gradients below the range, and above it.
struct beyond_range {
  gpu::device_range range;
  const float *dy, *x;
  TROUPE_DEVICE double operator()(int64_t side, int64_t i) const {
    auto nudged = range.get();
    return (side == 0 ? x[i] < nudged.least : x[i] > nudged.most) ? double{dy[i]} : 0.0;
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

extern constexpr kernel_def TROUPE_GPU_KERNEL(fake_quant_with_min_max_args){
    .op = "FakeQuantWithMinMaxArgs",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_fake_quant_with_min_max_args}},
    .prepare = keep_attribute_range,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(fake_quant_with_min_max_args_gradient){
    .op = "FakeQuantWithMinMaxArgsGradient",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_fake_quant_with_min_max_args_gradient}},
    .prepare = keep_attribute_range,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(fake_quant_with_min_max_vars){
    .op = "FakeQuantWithMinMaxVars",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_fake_quant_with_min_max_vars}},
    .prepare = keep_bit_range,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(fake_quant_with_min_max_vars_gradient){
    .op = "FakeQuantWithMinMaxVarsGradient",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_fake_quant_with_min_max_vars_gradient}},
    .prepare = keep_bit_range,
};

} // namespace troupe::ops::fake_quant_gpu
