#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::sparse_segment_sqrt_n_with_num_segments_cpu {

extern constexpr kernel_def sparse_segment_sqrt_n_with_num_segments_cpu{
    .op = "SparseSegmentSqrtNWithNumSegments",
    .run = {{dtype::none, combine_segments<sparse_segments, combination::sum_over_root>}},
};

} // namespace troupe::ops::sparse_segment_sqrt_n_with_num_segments_cpu
