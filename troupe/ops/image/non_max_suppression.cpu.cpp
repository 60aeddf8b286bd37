#include "troupe/ops/image/shared/suppression.cpu.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::non_max_suppression_cpu {
namespace {

status run(kernel_context& at) { return suppress(at, static_cast<float>(at.state<double>())); }

} // namespace

extern constexpr kernel_def non_max_suppression_cpu{
    .op = "NonMaxSuppression",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<double, "iou_threshold">,
};

} // namespace troupe::ops::non_max_suppression_cpu
