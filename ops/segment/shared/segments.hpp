// What the definitions of the ops share that combine rows with the same number.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// For (data, segment_ids): ids are sorted, so the last one tells how many rows come out.
result<shapes> infer_sorted_segments(const infer_context& at);
/// For (data, segment_ids, num_segments).
result<shapes> infer_unsorted_segments(const infer_context& at);
/// For (data, indices, segment_ids), and perhaps num_segments.
result<shapes> infer_sparse_segments(const infer_context& at);
/// For (grad, indices, segment_ids, output_dim0).
result<shapes> infer_sparse_segment_gradients(const infer_context& at);

/// Numbers, one for each row of data, with as many axes as data, so that they broadcast against it.
edge for_each_row(edge numbers, edge data);
/// How many rows the tensor has, as i64 scalar.
edge rows_of(edge x);

/// Gradients of ops on (data, segment_ids) or (data, segment_ids, num_segments). Rows with a
/// negative id, which went nowhere, get zeros.
edges segment_sum_gradient(gradient_context& at);
/// Elements that are equally far out share the gradient.
edges segment_extreme_gradient(gradient_context& at);
edges segment_product_gradient(gradient_context& at);

} // namespace troupe::ops
