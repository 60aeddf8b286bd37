#include "troupe/ops/quantized/shared/requantization.hpp"

namespace troupe::ops::requantization_range_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto range, used_range(at, dtype::i32));
  return give_range(at, range, 0);
}

} // namespace

extern constexpr kernel_def requantization_range_cpu{
    .op = "RequantizationRange",
    .run = {{dtype::none, run}},
    .key = "Tinput",
};

} // namespace troupe::ops::requantization_range_cpu
