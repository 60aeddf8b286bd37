#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::sparse_segment_cpu {

extern constexpr kernel_def sparse_segment_sum_cpu{
    .op = "SparseSegmentSum",
    .run = {{dtype::none, combine_segments<sparse_segments, combination::sum>}},
};

extern constexpr kernel_def sparse_segment_mean_cpu{
    .op = "SparseSegmentMean",
    .run = {{dtype::none, combine_segments<sparse_segments, combination::mean>}},
};

extern constexpr kernel_def sparse_segment_sqrt_n_cpu{
    .op = "SparseSegmentSqrtN",
    .run = {{dtype::none, combine_segments<sparse_segments, combination::sum_over_root>}},
};

extern constexpr kernel_def sparse_segment_sum_with_num_segments_cpu{
    .op = "SparseSegmentSumWithNumSegments",
    .run = {{dtype::none, combine_segments<sparse_segments, combination::sum>}},
};

extern constexpr kernel_def sparse_segment_mean_with_num_segments_cpu{
    .op = "SparseSegmentMeanWithNumSegments",
    .run = {{dtype::none, combine_segments<sparse_segments, combination::mean>}},
};

extern constexpr kernel_def sparse_segment_sqrt_n_with_num_segments_cpu{
    .op = "SparseSegmentSqrtNWithNumSegments",
    .run = {{dtype::none, combine_segments<sparse_segments, combination::sum_over_root>}},
};

} // namespace troupe::ops::sparse_segment_cpu
