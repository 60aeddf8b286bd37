// What the definitions share of ops that reduce sparse tensors, or bring them together with others.
#pragma once
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops {

/// Inputs: a sparse tensor, and a dense one that is broadcast to its shape. Output: values.
result<shapes> infer_sparse_dense(const infer_context& at);

/// The gradient of the dense tensor, from those of the values that its elements went into.
edge dense_gradient(gradient_context& at, edge gradients);

/// Inputs: two sparse tensors of one shape. Output: the indices and values of a third.
result<shapes> infer_sparse_pairs(const infer_context& at);

/// For gradients: where the elements of a (`which` is 0) or b (1) went in a combination of two
/// sparse tensors, whose values are `like`; -1 for those that went nowhere. All indices are in
/// order.
edge places_in_sum(edge like, edge a_indices, edge b_indices, edge indices, int which);

/// The gradient of an op whose output is one of two sparse tensors wherever `op` (GreaterEqual,
/// LessEqual) says so, and the other elsewhere.
edges sparse_extreme_gradient(gradient_context& at, const char* op);

/// Inputs: a sparse tensor, and the axes to reduce. Output: a dense tensor.
result<shapes> infer_sparse_reduction(const infer_context& at);

} // namespace troupe::ops
