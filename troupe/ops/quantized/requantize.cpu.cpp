#include "troupe/ops/quantized/shared/requantization.hpp"

namespace troupe::ops::requantize_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto to, range_at(at, 3, at.output_type(0)));
  if (to.least > 0)
    return invalid("requested_output_min must not be above 0, got ", to.least);
  return requantize(at, to);
}

} // namespace

extern constexpr kernel_def requantize_cpu{
    .op = "Requantize",
    .run = {{dtype::none, run}},
    .key = "Tinput",
};

} // namespace troupe::ops::requantize_cpu
