#include "troupe/ops/quantized/shared/fake_quantization.hpp"

namespace troupe::ops::fake_quant_with_min_max_args_gradient_cpu {
namespace {

status run(kernel_context& at) { return pass_within(at, at.state<nudged_range>()); }

} // namespace

extern constexpr kernel_def fake_quant_with_min_max_args_gradient_cpu{
    .op = "FakeQuantWithMinMaxArgsGradient",
    .run = {{dtype::none, run}},
    .prepare = keep_attribute_range,
};

} // namespace troupe::ops::fake_quant_with_min_max_args_gradient_cpu
