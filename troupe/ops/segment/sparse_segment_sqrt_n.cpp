// SparseSegmentSqrtN: scaled sums of chosen rows with the same number.
#include "troupe/ops/segment/shared/segments.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::sparse_segment_sqrt_n_op {
namespace {

edges gradient(gradient_context& at) {
  return {build("SparseSegmentSqrtNGrad", {at.output_gradient(0), at.input(1), at.input(2),
                                           cast_to(rows_of(at.input(0)), dtype::i32)}),
          {},
          {}};
}

} // namespace

extern constexpr op_def sparse_segment_sqrt_n{
    .name = "SparseSegmentSqrtN",
    .doc = "Adds up, and divides by the square root of how many there are, the rows of data that "
           "indices names and that have the same number in segment_ids.\n\nThe numbers must not "
           "decrease. Row i of the output comes from those numbered i, or is zeros where there "
           "are none. The last number says how many rows there are.",
    .inputs = {{"data", "T"}, {"indices", "Tidx"}, {"segment_ids", "Tsegmentids"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating},
              {"Tidx", index_types, dtype::i32},
              {"Tsegmentids", index_types, dtype::i32}},
    .effects = data_dependent_shape,
    .infer = infer_sparse_segments,
    .gradient = gradient,
    .example = R"(
y = SparseSegmentSqrtN(f32[[1, 2], [3, 2], [5, 6]], i32[0, 0, 2, 0, 1], i32[0, 0, 0, 0, 1])
fetch y = f32[[4, 6], [3, 2]]
)",
};

} // namespace troupe::ops::sparse_segment_sqrt_n_op
