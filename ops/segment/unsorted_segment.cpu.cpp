#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::unsorted_segment_cpu {

extern constexpr kernel_def unsorted_segment_sum_cpu{
    .op = "UnsortedSegmentSum",
    .run = {{dtype::none, combine_segments<unsorted_segments, combination::sum>}},
};

extern constexpr kernel_def unsorted_segment_prod_cpu{
    .op = "UnsortedSegmentProd",
    .run = {{dtype::none, combine_segments<unsorted_segments, combination::product>}},
};

extern constexpr kernel_def unsorted_segment_max_cpu{
    .op = "UnsortedSegmentMax",
    .run = {{dtype::none, combine_segments<unsorted_segments, combination::largest>}},
};

extern constexpr kernel_def unsorted_segment_min_cpu{
    .op = "UnsortedSegmentMin",
    .run = {{dtype::none, combine_segments<unsorted_segments, combination::smallest>}},
};

} // namespace troupe::ops::unsorted_segment_cpu
