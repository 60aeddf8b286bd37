// SparseSegmentSumGrad: the gradient of SparseSegmentSum.
#include "troupe/ops/segment/shared/segments.hpp"

namespace troupe::ops::sparse_segment_sum_grad_op {
namespace {

edges gradient(gradient_context& at) {
  return {build("SparseSegmentSumWithNumSegments",
                {at.output_gradient(0), at.input(1), at.input(2), rows_of(at.input(0))}),
          {},
          {},
          {}};
}

} // namespace

extern constexpr op_def sparse_segment_sum_grad{
    .name = "SparseSegmentSumGrad",
    .doc = "Computes the gradient of SparseSegmentSum with respect to its data, which has "
           "output_dim0 rows.\n\nEach entry adds its row of grad, the one that segment_ids names, "
           "to the row of the output that indices names.",
    .inputs = {{"grad", "T"},
               {"indices", "Tidx"},
               {"segment_ids", "Tsegmentids"},
               on_host("output_dim0", "i32")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating},
              {"Tidx", index_types, dtype::i32},
              {"Tsegmentids", index_types, dtype::i32}},
    .infer = infer_sparse_segment_gradients,
    .gradient = gradient,
    .example = R"(
y = SparseSegmentSumGrad(f32[[1, 2], [3, 4]], i32[0, 2, 2], i32[0, 0, 1], i32(3))
fetch y = f32[[1, 2], [0, 0], [4, 6]]
)",
};

} // namespace troupe::ops::sparse_segment_sum_grad_op
