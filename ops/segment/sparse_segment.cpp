// Combines selected rows with the same number; with num_segments, empty rows follow.
#include "troupe/ops/segment/shared/segments.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::sparse_segment_op {
namespace {

edges sparse_segment_sum_gradient(gradient_context& at) {
  auto rows = build("Gather", {at.output_gradient(0), at.input(2)});
  return {build("UnsortedSegmentSum", {rows, at.input(1), rows_of(at.input(0))}), {}, {}};
}

edges sparse_segment_mean_gradient(gradient_context& at) {
  return {build("SparseSegmentMeanGrad", {at.output_gradient(0), at.input(1), at.input(2),
                                          cast_to(rows_of(at.input(0)), dtype::i32)}),
          {},
          {}};
}

edges sparse_segment_sqrt_n_gradient(gradient_context& at) {
  return {build("SparseSegmentSqrtNGrad", {at.output_gradient(0), at.input(1), at.input(2),
                                           cast_to(rows_of(at.input(0)), dtype::i32)}),
          {},
          {}};
}

edges sparse_segment_sum_with_num_segments_gradient(gradient_context& at) {
  auto rows = build("Gather", {at.output_gradient(0), at.input(2)});
  return {build("UnsortedSegmentSum", {rows, at.input(1), rows_of(at.input(0))}), {}, {}, {}};
}

edges sparse_segment_mean_with_num_segments_gradient(gradient_context& at) {
  return {build("SparseSegmentMeanGrad", {at.output_gradient(0), at.input(1), at.input(2),
                                          cast_to(rows_of(at.input(0)), dtype::i32)}),
          {},
          {},
          {}};
}

edges sparse_segment_sqrt_n_with_num_segments_gradient(gradient_context& at) {
  return {build("SparseSegmentSqrtNGrad", {at.output_gradient(0), at.input(1), at.input(2),
                                           cast_to(rows_of(at.input(0)), dtype::i32)}),
          {},
          {},
          {}};
}

} // namespace

extern constexpr op_def sparse_segment_sum{
    .name = "SparseSegmentSum",
    .doc = "Adds up the rows of data at indices that have the same number in segment_ids.\n\nThe "
           "numbers must not decrease. Row i of the output comes from the rows numbered i, or is "
           "zeros if there are none. The last number plus one is the number of rows of the output.",
    .inputs = {{"data", "T"}, {"indices", "Tidx"}, {"segment_ids", "Tsegmentids"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", real_numbers},
              {"Tidx", index_types, dtype::i32},
              {"Tsegmentids", index_types, dtype::i32}},
    .effects = effect::data_dependent_shape,
    .infer = infer_sparse_segments,
    .gradient = sparse_segment_sum_gradient,
    .example = R"(
y = SparseSegmentSum(f32[[1, 2], [3, 2], [5, 6]], i32[0, 1, 2], i32[0, 0, 1])
fetch y = f32[[4, 4], [5, 6]]
)",
};

extern constexpr op_def sparse_segment_mean{
    .name = "SparseSegmentMean",
    .doc = "Takes the mean of the rows of data at indices that have the same number in "
           "segment_ids.\n\nThe numbers must not decrease. Row i of the output comes from the rows "
           "numbered i, or is zeros if there are none. The last number plus one is the number of "
           "rows of the output.",
    .inputs = {{"data", "T"}, {"indices", "Tidx"}, {"segment_ids", "Tsegmentids"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating},
              {"Tidx", index_types, dtype::i32},
              {"Tsegmentids", index_types, dtype::i32}},
    .effects = effect::data_dependent_shape,
    .infer = infer_sparse_segments,
    .gradient = sparse_segment_mean_gradient,
    .example = R"(
y = SparseSegmentMean(f32[[1, 2], [3, 2], [5, 6]], i32[0, 1, 2], i32[0, 0, 1])
fetch y = f32[[2, 2], [5, 6]]
)",
};

extern constexpr op_def sparse_segment_sqrt_n{
    .name = "SparseSegmentSqrtN",
    .doc = "Adds up the rows of data at indices that have the same number in segment_ids, and "
           "divides each sum by the square root of the number of its rows.\n\nThe numbers must not "
           "decrease. Row i of the output comes from the rows numbered i, or is zeros if there are "
           "none. The last number plus one is the number of rows of the output.",
    .inputs = {{"data", "T"}, {"indices", "Tidx"}, {"segment_ids", "Tsegmentids"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating},
              {"Tidx", index_types, dtype::i32},
              {"Tsegmentids", index_types, dtype::i32}},
    .effects = effect::data_dependent_shape,
    .infer = infer_sparse_segments,
    .gradient = sparse_segment_sqrt_n_gradient,
    .example = R"(
y = SparseSegmentSqrtN(f32[[1, 2], [3, 2], [5, 6]], i32[0, 0, 2, 0, 1], i32[0, 0, 0, 0, 1])
fetch y = f32[[4, 6], [3, 2]]
)",
};

extern constexpr op_def sparse_segment_sum_with_num_segments{
    .name = "SparseSegmentSumWithNumSegments",
    .doc = "Adds up the rows of data at indices that have the same number in segment_ids.\n\nThe "
           "numbers must not decrease. Row i of the output comes from the rows numbered i, or is "
           "zeros if there are none. num_segments is the number of rows of the output.",
    .inputs = {{"data", "T"},
               {"indices", "Tidx"},
               {"segment_ids", "Tsegmentids"},
               on_host("num_segments", "Tnumsegments")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", real_numbers},
              {"Tidx", index_types, dtype::i32},
              {"Tsegmentids", index_types, dtype::i32},
              {"Tnumsegments", index_types, dtype::i32}},
    .infer = infer_sparse_segments,
    .gradient = sparse_segment_sum_with_num_segments_gradient,
    .example = R"(
y = SparseSegmentSumWithNumSegments(f32[[1, 2], [3, 2], [5, 6]], i32[0, 1, 2], i32[0, 0, 1], i32(3))
fetch y = f32[[4, 4], [5, 6], [0, 0]]
)",
};

extern constexpr op_def sparse_segment_mean_with_num_segments{
    .name = "SparseSegmentMeanWithNumSegments",
    .doc = "Takes the mean of the rows of data at indices that have the same number in "
           "segment_ids.\n\nThe numbers must not decrease. Row i of the output comes from the rows "
           "numbered i, or is zeros if there are none. num_segments is the number of rows of the "
           "output.",
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
    .gradient = sparse_segment_mean_with_num_segments_gradient,
    .example = R"(
y = SparseSegmentMeanWithNumSegments(f32[[1, 2], [3, 2], [5, 6]], i32[0, 1, 2], i32[0, 0, 1], i32(3))
fetch y = f32[[2, 2], [5, 6], [0, 0]]
)",
};

extern constexpr op_def sparse_segment_sqrt_n_with_num_segments{
    .name = "SparseSegmentSqrtNWithNumSegments",
    .doc = "Adds up the rows of data at indices that have the same number in segment_ids, and "
           "divides each sum by the square root of the number of its rows.\n\nThe numbers must not "
           "decrease. Row i of the output comes from the rows numbered i, or is zeros if there are "
           "none. num_segments is the number of rows of the output.",
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
    .gradient = sparse_segment_sqrt_n_with_num_segments_gradient,
    .example = R"(
y = SparseSegmentSqrtNWithNumSegments(f32[[1, 2], [3, 2], [5, 6]], i32[0, 0, 2, 0, 1], i32[0, 0, 0, 0, 1], i32(3))
fetch y = f32[[4, 6], [3, 2], [0, 0]]
)",
};

} // namespace troupe::ops::sparse_segment_op
