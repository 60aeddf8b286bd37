#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/quantized/shared/fake_quantization.hpp"

#include <limits>

namespace troupe::ops::fake_quant_cpu {
namespace {

status run_fake_quant_with_min_max_args(kernel_context& at) {
  return round_to(at, at.state<nudged_range>());
}

status run_fake_quant_with_min_max_args_gradient(kernel_context& at) {
  return pass_within(at, at.state<nudged_range>());
}

status run_fake_quant_with_min_max_vars(kernel_context& at) {
  const auto &range_min = at.input(1), &range_max = at.input(2);
  TROUPE_TRY(check_range_inputs(at, 1));
  auto from = *range_min.data<float>(), to = *range_max.data<float>();
  if (from == 0 && to == 0) {
    TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(0).dims()));
    fill_zeros(at, *out);
    return {};
  }
  TROUPE_ASSIGN(auto range, nudged_range::around(from, to, at.state<bit_range>()));
  return round_to(at, range);
}

status run_fake_quant_with_min_max_vars_gradient(kernel_context& at) {
  const auto &gradients = at.input(0), &x = at.input(1), &range_min = at.input(2),
             &range_max = at.input(3);
  TROUPE_TRY(check_range_inputs(at, 2));
  auto from = *range_min.data<float>(), to = *range_max.data<float>();
  constexpr auto infinity = std::numeric_limits<float>::infinity();
  nudged_range range{-infinity, infinity, 0}; // with an empty range, every value counts as within
  if (from != 0 || to != 0) {
    TROUPE_ASSIGN(range, nudged_range::around(from, to, at.state<bit_range>()));
  }
  TROUPE_TRY(pass_within(at, range));
  // TODO(perf): the sums run on one thread.
  double below = 0, above = 0;
  auto dy = gradients.values<float>(), values = x.values<float>();
  for (size_t i = 0; i < values.size() && !(i % 100'000 == 99'999 && at.stopped()); ++i) {
    below += values[i] < range.least ? dy[i] : 0.0f;
    above += values[i] > range.most ? dy[i] : 0.0f;
  }
  for (int i : {1, 2}) {
    TROUPE_ASSIGN(auto* out, at.allocate(i, {}));
    *out->data<float>() = static_cast<float>(i == 1 ? below : above);
  }
  return {};
}

} // namespace

extern constexpr kernel_def fake_quant_with_min_max_args_cpu{
    .op = "FakeQuantWithMinMaxArgs",
    .run = {{dtype::none, run_fake_quant_with_min_max_args}},
    .prepare = keep_attribute_range,
};

extern constexpr kernel_def fake_quant_with_min_max_args_gradient_cpu{
    .op = "FakeQuantWithMinMaxArgsGradient",
    .run = {{dtype::none, run_fake_quant_with_min_max_args_gradient}},
    .prepare = keep_attribute_range,
};

extern constexpr kernel_def fake_quant_with_min_max_vars_cpu{
    .op = "FakeQuantWithMinMaxVars",
    .run = {{dtype::none, run_fake_quant_with_min_max_vars}},
    .prepare = keep_bit_range,
};

extern constexpr kernel_def fake_quant_with_min_max_vars_gradient_cpu{
    .op = "FakeQuantWithMinMaxVarsGradient",
    .run = {{dtype::none, run_fake_quant_with_min_max_vars_gradient}},
    .prepare = keep_bit_range,
};

} // namespace troupe::ops::fake_quant_cpu
