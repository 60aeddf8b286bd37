// Gradients of sums and means of selected rows.
#include "troupe/ops/segment/shared/segments.hpp"

namespace troupe::ops::sparse_segment_grad_op {
namespace {

edges sparse_segment_sum_grad_gradient(gradient_context& at) {
  return {build("SparseSegmentSumWithNumSegments",
                {at.output_gradient(0), at.input(1), at.input(2), rows_of(at.input(0))}),
          {},
          {},
          {}};
}

edges sparse_segment_mean_grad_gradient(gradient_context& at) {
  return {build("SparseSegmentMeanWithNumSegments",
                {at.output_gradient(0), at.input(1), at.input(2), rows_of(at.input(0))}),
          {},
          {},
          {}};
}

edges sparse_segment_sqrt_n_grad_gradient(gradient_context& at) {
  return {build("SparseSegmentSqrtNWithNumSegments",
                {at.output_gradient(0), at.input(1), at.input(2), rows_of(at.input(0))}),
          {},
          {},
          {}};
}

} // namespace

extern constexpr op_def sparse_segment_sum_grad{
    .name = "SparseSegmentSumGrad",
    .doc =
        "Computes the gradient of SparseSegmentSum with respect to its data, which has output_dim0 "
        "rows.\n\nEntry k adds row segment_ids[k] of grad to row indices[k] of the output.",
    .inputs = {{"grad", "T"},
               {"indices", "Tidx"},
               {"segment_ids", "Tsegmentids"},
               on_host("output_dim0", "i32")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating},
              {"Tidx", index_types, dtype::i32},
              {"Tsegmentids", index_types, dtype::i32}},
    .infer = infer_sparse_segment_gradients,
    .gradient = sparse_segment_sum_grad_gradient,
    .example = R"(
y = SparseSegmentSumGrad(f32[[1, 2], [3, 4]], i32[0, 2, 2], i32[0, 0, 1], i32(3))
fetch y = f32[[1, 2], [0, 0], [4, 6]]
)",
};

extern constexpr op_def sparse_segment_mean_grad{
    .name = "SparseSegmentMeanGrad",
    .doc = "Computes the gradient of SparseSegmentMean with respect to its data, which has "
           "output_dim0 rows.\n\nEntry k adds row segment_ids[k] of grad, divided by the number of "
           "entries of that segment, to row indices[k] of the output.",
    .inputs = {{"grad", "T"},
               {"indices", "Tidx"},
               {"segment_ids", "Tsegmentids"},
               on_host("output_dim0", "i32")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating},
              {"Tidx", index_types, dtype::i32},
              {"Tsegmentids", index_types, dtype::i32}},
    .infer = infer_sparse_segment_gradients,
    .gradient = sparse_segment_mean_grad_gradient,
    .example = R"(
y = SparseSegmentMeanGrad(f32[[1, 2], [3, 4]], i32[0, 2, 2], i32[0, 0, 1], i32(3))
fetch y = f32[[0.5, 1], [0, 0], [3.5, 5]]
)",
};

extern constexpr op_def sparse_segment_sqrt_n_grad{
    .name = "SparseSegmentSqrtNGrad",
    .doc = "Computes the gradient of SparseSegmentSqrtN with respect to its data, which has "
           "output_dim0 rows.\n\nEntry k adds row segment_ids[k] of grad, divided by the square "
           "root of the number of entries of that segment, to row indices[k] of the output.",
    .inputs = {{"grad", "T"},
               {"indices", "Tidx"},
               {"segment_ids", "Tsegmentids"},
               on_host("output_dim0", "i32")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating},
              {"Tidx", index_types, dtype::i32},
              {"Tsegmentids", index_types, dtype::i32}},
    .infer = infer_sparse_segment_gradients,
    .gradient = sparse_segment_sqrt_n_grad_gradient,
    .example = R"(
y = SparseSegmentSqrtNGrad(f32[[1, 2], [3, 4]], i32[0, 2, 2], i32[0, 0, 1], i32(3))
fetch y = f32[[0.7071068, 1.4142136], [0, 0], [3.7071068, 5.4142136]]
)",
};

} // namespace troupe::ops::sparse_segment_grad_op
