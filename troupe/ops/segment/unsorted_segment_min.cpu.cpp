#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::unsorted_segment_min_cpu {

extern constexpr kernel_def unsorted_segment_min_cpu{
    .op = "UnsortedSegmentMin",
    .run = {{dtype::none, combine_segments<unsorted_segments, combination::smallest>}},
};

} // namespace troupe::ops::unsorted_segment_min_cpu
