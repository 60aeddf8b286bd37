// Shared by the definitions of ops that reduce sparse tensors, or combine them with other tensors.
#pragma once
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops {

/// Inputs: a sparse tensor, and a dense tensor that is broadcast to its shape. Output: values.
result<shapes> infer_sparse_dense(const infer_context& at);

/// The gradient of the dense tensor, from the gradients of the values computed from its elements.
edge dense_gradient(gradient_context& at, edge gradients);

/// Inputs: two sparse tensors of one shape. Output: the indices and values of a third.
result<shapes> infer_sparse_pairs(const infer_context& at);

/// For gradients: the positions of the elements of a (`operand` is 0) or b (1) in a combination of
/// two sparse tensors, whose values are like `shape_source`; -1 for elements without a position.
/// All indices are in order.
edge places_in_sum(edge shape_source, edge a_indices, edge b_indices, edge indices, int operand);

/// The gradient of an op that selects the first of two sparse tensors where `op` (GreaterEqual,
/// LessEqual) holds, and the second elsewhere.
edges sparse_extreme_gradient(gradient_context& at, const char* op);

/// Inputs: a sparse tensor, and the axes to reduce. Output: a dense tensor.
result<shapes> infer_sparse_reduction(const infer_context& at);

} // namespace troupe::ops
