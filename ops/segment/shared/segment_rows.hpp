// Rows that have the same number make a segment: what the kernels of all segment ops do first.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

#include <vector>

namespace troupe::ops {

/// Output 0, allocated, and which rows of input 0 are combined to each of its rows.
struct segment_rows {
  tensor* out = nullptr;
  int64_t segments = 0; ///< 0 where the output has no elements
  int64_t length = 0;   ///< of a row, in elements
  /// Row i of the output is made of the entries [starts[i], starts[i + 1]).
  std::vector<int64_t> starts = {};
  /// The row that each entry names; where this is empty, entry j names row j.
  std::vector<int64_t> rows = {};
  /// What each entry's row is multiplied by; 1 where this is empty.
  std::vector<double> weights = {};
};

/// The last id must be less.
inline constexpr auto max_segments = int64_t{1} << 62;

/// Outputs alone, for devices that look at ids later: of (data, segment_ids, num_segments), and of
/// (data, indices, segment_ids, num_segments). `segments` is num_segments, whatever the rows are.
result<segment_rows> unsorted_output(kernel_context& at);
result<segment_rows> sparse_output(kernel_context& at);
/// The same of (data, segment_ids) and of (data, indices, segment_ids), which have so many
/// segments.
result<segment_rows> sorted_output(kernel_context& at, int64_t segments);
result<segment_rows> sparse_output(kernel_context& at, int64_t segments);

/// The same of (grad, indices, segment_ids, output_dim0).
result<segment_rows> sparse_gradient_output(kernel_context& at);

/// For (data, segment_ids), where the ids do not decrease.
result<segment_rows> sorted_segments(kernel_context& at);
/// For (data, segment_ids, num_segments), in any order; rows with a negative id are left out.
result<segment_rows> unsorted_segments(kernel_context& at);
/// For (data, indices, segment_ids), and perhaps num_segments: entry j names row indices[j], and
/// the ids do not decrease.
result<segment_rows> sparse_segments(kernel_context& at);

/// A weight for the entries of a segment that has so many.
using weight_fn = double (*)(double count);

/// For (grad, indices, segment_ids, output_dim0): entry j adds row segment_ids[j] to row indices[j]
/// of the output.
result<segment_rows> sparse_segment_gradients(kernel_context& at, weight_fn weight);

/// What a segment's rows are combined to, element by element.
enum class combination : uint8_t {
  sum,
  mean,
  product,
  sum_over_root,    ///< the sum, divided by the square root of how many rows there are
  largest_or_zero,  ///< 0 for a segment without rows
  smallest_or_zero, ///< the same
  largest,          ///< the least finite number for a segment without rows
  smallest,         ///< the largest finite number for a segment without rows
};

/// Computes output 0, spread over the threads of the device.
status combine(kernel_context& at, const segment_rows& rows, combination how);

/// A kernel that groups the rows, then combines those of each segment.
template <result<segment_rows> (*Group)(kernel_context&), combination How>
status combine_segments(kernel_context& at) {
  TROUPE_ASSIGN(auto rows, Group(at));
  return combine(at, rows, How);
}

} // namespace troupe::ops
