#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::sparse_segment_mean_cpu {

extern constexpr kernel_def sparse_segment_mean_cpu{
    .op = "SparseSegmentMean",
    .run = {{dtype::none, combine_segments<sparse_segments, combination::mean>}},
};

} // namespace troupe::ops::sparse_segment_mean_cpu
