#include "troupe/ops/math/segment_rows.hpp"

namespace troupe::ops {

extern constexpr kernel_def segment_sum_cpu{
    .op = "SegmentSum",
    .run = {{dtype::none, combine_segments<sorted_segments, combination::sum>}},
};

} // namespace troupe::ops
