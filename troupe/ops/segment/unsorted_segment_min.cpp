// UnsortedSegmentMin: the smallest of the rows that have the same number.
#include "troupe/ops/segment/shared/segments.hpp"

namespace troupe::ops::unsorted_segment_min_op {

extern constexpr op_def unsorted_segment_min{
    .name = "UnsortedSegmentMin",
    .doc = "Takes the smallest of the rows of data that have the same number in "
           "segment_ids.\n\nRow i of the output comes from the rows numbered i, or is the largest "
           "finite number of the type where there are none. Rows with a negative number are left "
           "out; a number beyond num_segments fails. Elements that are equally far out share the "
           "gradient.",
    .inputs = {{"data", "T"}, {"segment_ids", "Tindices"}, on_host("num_segments", "Tnumsegments")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", real_numbers},
              {"Tindices", index_types},
              {"Tnumsegments", index_types, dtype::i32}},
    .infer = infer_unsorted_segments,
    .gradient = segment_extreme_gradient,
    .example = R"(
y = UnsortedSegmentMin(f32[[1, 2], [3, 4], [5, 6]], i32[0, 1, 0], i32(2))
fetch y = f32[[1, 2], [3, 4]]
)",
};

} // namespace troupe::ops::unsorted_segment_min_op
