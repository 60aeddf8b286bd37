#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/quantized/shared/fake_quantization.hpp"

namespace troupe::ops::fake_quant_with_min_max_vars_cpu {
namespace {

status run(kernel_context& at) {
  const auto &least = at.input(1), &most = at.input(2);
  TROUPE_TRY(check_range_inputs(at, 1));
  auto from = *least.data<float>(), to = *most.data<float>();
  if (from == 0 && to == 0) {
    TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(0).dims()));
    fill_zeros(at, *out);
    return {};
  }
  TROUPE_ASSIGN(auto range, nudged_range::around(from, to, at.state<bit_range>()));
  return round_to(at, range);
}

} // namespace

extern constexpr kernel_def fake_quant_with_min_max_vars_cpu{
    .op = "FakeQuantWithMinMaxVars",
    .run = {{dtype::none, run}},
    .prepare = keep_bit_range,
};

} // namespace troupe::ops::fake_quant_with_min_max_vars_cpu
