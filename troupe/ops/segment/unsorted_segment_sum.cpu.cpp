#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::unsorted_segment_sum_cpu {

extern constexpr kernel_def unsorted_segment_sum_cpu{
    .op = "UnsortedSegmentSum",
    .run = {{dtype::none, combine_segments<unsorted_segments, combination::sum>}},
};

} // namespace troupe::ops::unsorted_segment_sum_cpu
