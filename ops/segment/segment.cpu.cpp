#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::segment_cpu {

extern constexpr kernel_def segment_sum_cpu{
    .op = "SegmentSum",
    .run = {{dtype::none, combine_segments<sorted_segments, combination::sum>}},
};

extern constexpr kernel_def segment_mean_cpu{
    .op = "SegmentMean",
    .run = {{dtype::none, combine_segments<sorted_segments, combination::mean>}},
};

extern constexpr kernel_def segment_prod_cpu{
    .op = "SegmentProd",
    .run = {{dtype::none, combine_segments<sorted_segments, combination::product>}},
};

extern constexpr kernel_def segment_max_cpu{
    .op = "SegmentMax",
    .run = {{dtype::none, combine_segments<sorted_segments, combination::largest_or_zero>}},
};

extern constexpr kernel_def segment_min_cpu{
    .op = "SegmentMin",
    .run = {{dtype::none, combine_segments<sorted_segments, combination::smallest_or_zero>}},
};

} // namespace troupe::ops::segment_cpu
