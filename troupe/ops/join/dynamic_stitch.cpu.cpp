#include "troupe/ops/join/shared/dynamic_stitch.hpp"

namespace troupe::ops::dynamic_stitch_cpu {

extern constexpr kernel_def dynamic_stitch_cpu{
    .op = "DynamicStitch",
    .run = {{dtype::none, stitch}},
};

} // namespace troupe::ops::dynamic_stitch_cpu
