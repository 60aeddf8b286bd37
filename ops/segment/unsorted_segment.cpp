// Combines rows with the same number; the numbers are in any order.
#include "troupe/ops/segment/shared/segments.hpp"

namespace troupe::ops::unsorted_segment_op {

extern constexpr op_def unsorted_segment_sum{
    .name = "UnsortedSegmentSum",
    .doc = "Adds up the rows of data that have the same number in segment_ids.\n\nRow i of the "
           "output is the sum of the rows numbered i, or zeros if there are none. Rows with a "
           "negative number are ignored; a number that is not less than num_segments is an error.",
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

extern constexpr op_def unsorted_segment_prod{
    .name = "UnsortedSegmentProd",
    .doc = "Multiplies the rows of data that have the same number in segment_ids.\n\nRow i of the "
           "output comes from the rows numbered i, or is ones if there are none. Rows with a "
           "negative number are ignored; a number that is not less than num_segments is an error.",
    .inputs = {{"data", "T"}, {"segment_ids", "Tindices"}, on_host("num_segments", "Tnumsegments")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"Tindices", index_types}, {"Tnumsegments", index_types, dtype::i32}},
    .infer = infer_unsorted_segments,
    .gradient = segment_product_gradient,
    .example = R"(
y = UnsortedSegmentProd(f32[[1, 2], [3, 4], [5, 6]], i32[0, 2, 0], i32(3))
fetch y = f32[[5, 12], [1, 1], [3, 4]]
)",
};

extern constexpr op_def unsorted_segment_max{
    .name = "UnsortedSegmentMax",
    .doc =
        "Takes the largest of the rows of data that have the same number in segment_ids.\n\nRow i "
        "of the output comes from the rows numbered i, or is the least finite number of the type "
        "if there are none. Rows with a negative number are ignored; a number that is not less "
        "than num_segments is an error. Elements that are equal to the result share the gradient.",
    .inputs = {{"data", "T"}, {"segment_ids", "Tindices"}, on_host("num_segments", "Tnumsegments")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", real_numbers},
              {"Tindices", index_types},
              {"Tnumsegments", index_types, dtype::i32}},
    .infer = infer_unsorted_segments,
    .gradient = segment_extreme_gradient,
    .example = R"(
y = UnsortedSegmentMax(f32[[1, 2], [3, 4], [5, 6]], i32[0, 1, 0], i32(2))
fetch y = f32[[5, 6], [3, 4]]
)",
};

extern constexpr op_def unsorted_segment_min{
    .name = "UnsortedSegmentMin",
    .doc =
        "Takes the smallest of the rows of data that have the same number in segment_ids.\n\nRow i "
        "of the output comes from the rows numbered i, or is the largest finite number of the type "
        "if there are none. Rows with a negative number are ignored; a number that is not less "
        "than num_segments is an error. Elements that are equal to the result share the gradient.",
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

} // namespace troupe::ops::unsorted_segment_op
