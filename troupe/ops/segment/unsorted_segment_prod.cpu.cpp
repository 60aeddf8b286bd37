#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::unsorted_segment_prod_cpu {

extern constexpr kernel_def unsorted_segment_prod_cpu{
    .op = "UnsortedSegmentProd",
    .run = {{dtype::none, combine_segments<unsorted_segments, combination::product>}},
};

} // namespace troupe::ops::unsorted_segment_prod_cpu
