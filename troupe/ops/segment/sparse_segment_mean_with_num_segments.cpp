// SparseSegmentMeanWithNumSegments: means of chosen rows with the same number, and empty rows after
// them.
#include "troupe/ops/segment/shared/segments.hpp"

namespace troupe::ops::sparse_segment_mean_with_num_segments_op {
namespace {

edges gradient(gradient_context& at) {
  return {build("SparseSegmentMeanGrad", {at.output_gradient(0), at.input(1), at.input(2),
                                          cast_to(rows_of(at.input(0)), dtype::i32)}),
          {},
          {},
          {}};
}

} // namespace

extern constexpr op_def sparse_segment_mean_with_num_segments{
    .name = "SparseSegmentMeanWithNumSegments",
    .doc = "Takes the mean of the rows of data that indices names and that have the same number "
           "in segment_ids.\n\nThe numbers must not decrease. Row i of the output comes from "
           "those numbered i, or is zeros where there are none. num_segments says how many rows "
           "there are.",
    .inputs = {{"data", "T"},
               {"indices", "Tidx"},
               {"segment_ids", "Tsegmentids"},
               on_host("num_segments", "Tnumsegments")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating},
              {"Tidx", index_types, dtype::i32},
              {"Tsegmentids", index_types, dtype::i32},
              {"Tnumsegments", index_types, dtype::i32}},
    .infer = infer_sparse_segments,
    .gradient = gradient,
    .example = R"(
y = SparseSegmentMeanWithNumSegments(f32[[1, 2], [3, 2], [5, 6]], i32[0, 1, 2], i32[0, 0, 1], i32(3))
fetch y = f32[[2, 2], [5, 6], [0, 0]]
)",
};

} // namespace troupe::ops::sparse_segment_mean_with_num_segments_op
