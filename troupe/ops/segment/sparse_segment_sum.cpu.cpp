#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::sparse_segment_sum_cpu {

extern constexpr kernel_def sparse_segment_sum_cpu{
    .op = "SparseSegmentSum",
    .run = {{dtype::none, combine_segments<sparse_segments, combination::sum>}},
};

} // namespace troupe::ops::sparse_segment_sum_cpu
