#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::unsorted_segment_max_cpu {

extern constexpr kernel_def unsorted_segment_max_cpu{
    .op = "UnsortedSegmentMax",
    .run = {{dtype::none, combine_segments<unsorted_segments, combination::largest>}},
};

} // namespace troupe::ops::unsorted_segment_max_cpu
