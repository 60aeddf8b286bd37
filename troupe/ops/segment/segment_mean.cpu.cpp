#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::segment_mean_cpu {

extern constexpr kernel_def segment_mean_cpu{
    .op = "SegmentMean",
    .run = {{dtype::none, combine_segments<sorted_segments, combination::mean>}},
};

} // namespace troupe::ops::segment_mean_cpu
