#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::segment_prod_cpu {

extern constexpr kernel_def segment_prod_cpu{
    .op = "SegmentProd",
    .run = {{dtype::none, combine_segments<sorted_segments, combination::product>}},
};

} // namespace troupe::ops::segment_prod_cpu
