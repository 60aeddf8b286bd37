// Rows with the same number form a segment: the grouping that all segment kernels start with.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

#include <vector>

namespace troupe::ops {

/// The allocated output 0, and the rows of input 0 that are combined to each of its rows.
struct segment_rows {
  tensor* out = nullptr;
  int64_t segments = 0; ///< 0 where the output has no elements
  int64_t length = 0;   ///< elements per row
  /// Row i of the output combines the entries [starts[i], starts[i + 1]).
  std::vector<int64_t> starts = {};
  /// The row of each entry; where this is empty, entry j has row j.
  std::vector<int64_t> rows = {};
  /// The weight of each entry's row; 1 where this is empty.
  std::vector<double> weights = {};
};

/// The last id must be less than this limit.
inline constexpr auto max_segments = int64_t{1} << 62;

/// The output alone, for devices that read ids later: for (data, segment_ids, num_segments), and
/// for (data, indices, segment_ids, num_segments). `segments` is num_segments, independent of the
/// rows.
result<segment_rows> unsorted_output(kernel_context& at);
result<segment_rows> sparse_output(kernel_context& at);
/// The same for (data, segment_ids) and for (data, indices, segment_ids), with this many segments.
result<segment_rows> sorted_output(kernel_context& at, int64_t segments);
result<segment_rows> sparse_output(kernel_context& at, int64_t segments);

/// The same for (grad, indices, segment_ids, output_dim0).
result<segment_rows> sparse_gradient_output(kernel_context& at);

/// For (data, segment_ids), where the ids do not decrease.
result<segment_rows> sorted_segments(kernel_context& at);
/// For (data, segment_ids, num_segments), in any order; rows with a negative id are ignored.
result<segment_rows> unsorted_segments(kernel_context& at);
/// For (data, indices, segment_ids), optionally with num_segments: entry j has row indices[j], and
/// the ids must not decrease.
result<segment_rows> sparse_segments(kernel_context& at);

/// The weight of the entries of a segment, given their number.
using weight_fn = double (*)(double count);

/// For (grad, indices, segment_ids, output_dim0): entry j adds row segment_ids[j] to row indices[j]
/// of the output.
result<segment_rows> sparse_segment_gradients(kernel_context& at, weight_fn weight);

/// The element-wise combination of a segment's rows.
enum class combination : uint8_t {
  sum,
  mean,
  product,
  sum_over_root,    ///< the sum, divided by the square root of the number of rows
  largest_or_zero,  ///< 0 for a segment without rows
  smallest_or_zero, ///< the same
  largest,          ///< the least finite number for a segment without rows
  smallest,         ///< the largest finite number for a segment without rows
};

/// Computes output 0 on the threads of the device.
status combine(kernel_context& at, const segment_rows& rows, combination method);

/// A kernel that groups the rows, then combines those of each segment.
template <result<segment_rows> (*Group)(kernel_context&), combination How>
status combine_segments(kernel_context& at) {
  TROUPE_ASSIGN(auto rows, Group(at));
  return combine(at, rows, How);
}

} // namespace troupe::ops
