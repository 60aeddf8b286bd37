#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::segment_min_cpu {

extern constexpr kernel_def segment_min_cpu{
    .op = "SegmentMin",
    .run = {{dtype::none, combine_segments<sorted_segments, combination::smallest_or_zero>}},
};

} // namespace troupe::ops::segment_min_cpu
