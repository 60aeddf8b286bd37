#include "troupe/ops/math/segment_rows.hpp"

namespace troupe::ops {

extern constexpr kernel_def segment_mean_cpu{
    .op = "SegmentMean",
    .run = {{dtype::none, combine_segments<sorted_segments, combination::mean>}},
};

} // namespace troupe::ops
