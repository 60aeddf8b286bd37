#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::segment_max_cpu {

extern constexpr kernel_def segment_max_cpu{
    .op = "SegmentMax",
    .run = {{dtype::none, combine_segments<sorted_segments, combination::largest_or_zero>}},
};

} // namespace troupe::ops::segment_max_cpu
