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

extern constexpr kernel_def non_max_suppression_v2_cpu{
    .op = "NonMaxSuppressionV2",
    .run = {{dtype::none, suppress_by_inputs<false>}},
};

extern constexpr kernel_def non_max_suppression_v3_cpu{
    .op = "NonMaxSuppressionV3",
    .run = {{dtype::none, suppress_by_inputs<true>}},
};

} // namespace troupe::ops::non_max_suppression_cpu
