#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::segment_sum_cpu {

extern constexpr kernel_def segment_sum_cpu{
    .op = "SegmentSum",
    .run = {{dtype::none, combine_segments<sorted_segments, combination::sum>}},
};

} // namespace troupe::ops::segment_sum_cpu
