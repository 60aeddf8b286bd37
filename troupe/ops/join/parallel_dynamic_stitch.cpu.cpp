#include "troupe/ops/join/shared/dynamic_stitch.hpp"

namespace troupe::ops::parallel_dynamic_stitch_cpu {

extern constexpr kernel_def parallel_dynamic_stitch_cpu{
    .op = "ParallelDynamicStitch",
    .run = {{dtype::none, stitch}},
};

} // namespace troupe::ops::parallel_dynamic_stitch_cpu
