// The element-wise maximum or minimum of two sparse tensors.
#include "troupe/ops/sparse/shared/sparse_dense.hpp"

namespace troupe::ops::sparse_extreme_op {
namespace {

edges sparse_sparse_maximum_gradient(gradient_context& at) {
  return sparse_extreme_gradient(at, "GreaterEqual");
}

edges sparse_sparse_minimum_gradient(gradient_context& at) {
  return sparse_extreme_gradient(at, "LessEqual");
}

} // namespace

extern constexpr op_def sparse_sparse_maximum{
    .name = "SparseSparseMaximum",
    .doc = "Finds the larger of each two elements of two sparse tensors of the same shape, "
           "whose indices are in order.\n\nThe output has an element wherever one of them has "
           "one; what is not there counts as 0. The gradient goes to a where both are equal.",
    .inputs = {{"a_indices", "i64"},
               {"a_values", "T"},
               on_host("a_shape", "i64"),
               {"b_indices", "i64"},
               {"b_values", "T"},
               on_host("b_shape", "i64")},
    .outputs = {{"output_indices", "i64"}, {"output_values", "T"}},
    .attrs = {{"T", real_numbers}},
    .infer = infer_sparse_pairs,
    .gradient = sparse_sparse_maximum_gradient,
    .example = R"(
y = SparseSparseMaximum(i64[[0, 1], [1, 0]], f32[1, 2], i64[2, 2],
       i64[[0, 0], [1, 0]], f32[3, -2], i64[2, 2])
fetch y = i64[[0, 0], [0, 1], [1, 0]]
fetch y:1 = f32[3, 1, 2]
)",
};

extern constexpr op_def sparse_sparse_minimum{
    .name = "SparseSparseMinimum",
    .doc = "Finds the smaller of each two elements of two sparse tensors of the same shape, "
           "whose indices are in order.\n\nThe output has an element wherever one of them has "
           "one; what is not there counts as 0. The gradient goes to a where both are equal.",
    .inputs = {{"a_indices", "i64"},
               {"a_values", "T"},
               on_host("a_shape", "i64"),
               {"b_indices", "i64"},
               {"b_values", "T"},
               on_host("b_shape", "i64")},
    .outputs = {{"output_indices", "i64"}, {"output_values", "T"}},
    .attrs = {{"T", real_numbers}},
    .infer = infer_sparse_pairs,
    .gradient = sparse_sparse_minimum_gradient,
    .example = R"(
y = SparseSparseMinimum(i64[[0, 1], [1, 0]], f32[1, 2], i64[2, 2],
       i64[[0, 0], [1, 0]], f32[3, -2], i64[2, 2])
fetch y = i64[[0, 0], [0, 1], [1, 0]]
fetch y:1 = f32[0, 0, -2]
)",
};

} // namespace troupe::ops::sparse_extreme_op
