// UnsortedSegmentSum: sums of the rows that have the same number.
#include "troupe/ops/segment/shared/segments.hpp"

namespace troupe::ops::unsorted_segment_sum_op {

extern constexpr op_def unsorted_segment_sum{
    .name = "UnsortedSegmentSum",
    .doc = "Adds up the rows of data that have the same number in segment_ids.\n\nRow i of the "
           "output is the sum of the rows numbered i, or zeros. Rows with a negative number are "
           "left out; a number beyond num_segments fails.",
    .inputs = {{"data", "T"}, {"segment_ids", "Tindices"}, on_host("num_segments", "Tnumsegments")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"Tindices", index_types}, {"Tnumsegments", index_types, dtype::i32}},
    .infer = infer_unsorted_segments,
    .gradient = segment_sum_gradient,
    .example = R"(
y = UnsortedSegmentSum(f32[[1, 2], [3, 4], [5, 6]], i32[0, 2, 0], i32(3))
fetch y = f32[[6, 8], [0, 0], [3, 4]]
)",
};

} // namespace troupe::ops::unsorted_segment_sum_op
