#include "troupe/ops/image/shared/suppression.cpu.hpp"

namespace troupe::ops::non_max_suppression_v3_cpu {

extern constexpr kernel_def non_max_suppression_v3_cpu{
    .op = "NonMaxSuppressionV3",
    .run = {{dtype::none, suppress_by_inputs<true>}},
};

} // namespace troupe::ops::non_max_suppression_v3_cpu
