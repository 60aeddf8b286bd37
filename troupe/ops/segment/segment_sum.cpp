// SegmentSum: sums of neighbouring rows with the same number.
#include "troupe/ops/segment/shared/segments.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::segment_sum_op {

extern constexpr op_def segment_sum{
    .name = "SegmentSum",
    .doc = "Adds up the rows of data that have the same number in segment_ids.\n\nThe numbers "
           "must not decrease. Row i of the output comes from the rows numbered i, or is zeros "
           "where there are none; the last number says how many there are.",
    .inputs = {{"data", "T"}, {"segment_ids", "Tindices"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"Tindices", index_types}},
    .effects = data_dependent_shape,
    .infer = infer_sorted_segments,
    .gradient = segment_sum_gradient,
    .example = R"(
y = SegmentSum(f32[[1, 2], [3, 4], [5, 6]], i32[0, 0, 1])
fetch y = f32[[4, 6], [5, 6]]
)",
};

} // namespace troupe::ops::segment_sum_op
