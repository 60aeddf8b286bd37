#include "troupe/ops/image/shared/suppression.cpu.hpp"

namespace troupe::ops::non_max_suppression_v2_cpu {

extern constexpr kernel_def non_max_suppression_v2_cpu{
    .op = "NonMaxSuppressionV2",
    .run = {{dtype::none, suppress_by_inputs<false>}},
};

} // namespace troupe::ops::non_max_suppression_v2_cpu
