#include "troupe/ops/quantized/shared/requantization.hpp"

namespace troupe::ops::quantize_down_and_shrink_range_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto range, used_range(at, at.output_type(0)));
  return requantize(at, range);
}

} // namespace

extern constexpr kernel_def quantize_down_and_shrink_range_cpu{
    .op = "QuantizeDownAndShrinkRange",
    .run = {{dtype::none, run}},
    .key = "Tinput",
};

} // namespace troupe::ops::quantize_down_and_shrink_range_cpu
