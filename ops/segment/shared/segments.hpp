// Shared by the definitions of the ops that combine rows with the same number.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// For (data, segment_ids): ids are sorted, so the last one determines the number of output rows.
result<shapes> infer_sorted_segments(const infer_context& at);
/// For (data, segment_ids, num_segments).
result<shapes> infer_unsorted_segments(const infer_context& at);
/// For (data, indices, segment_ids), optionally with num_segments.
result<shapes> infer_sparse_segments(const infer_context& at);
/// For (grad, indices, segment_ids, output_dim0).
result<shapes> infer_sparse_segment_gradients(const infer_context& at);

/// Numbers, one per row of data, reshaped to as many axes as data, so that they broadcast against
/// it.
edge for_each_row(edge numbers, edge data);
/// The number of rows of the tensor, as an i64 scalar.
edge rows_of(edge x);

/// Gradients of ops on (data, segment_ids) or (data, segment_ids, num_segments). Rows with a
/// negative id, which belong to no segment, get zeros.
edges segment_sum_gradient(gradient_context& at);
/// Tied extreme elements share the gradient.
edges segment_extreme_gradient(gradient_context& at);
edges segment_product_gradient(gradient_context& at);

} // namespace troupe::ops
